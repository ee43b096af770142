import { z } from 'zod'
import { toolWaitSecondsMax } from '../base/limits.ts'
import type { Asker, Outcome } from './asker.ts'
import type { Call } from './tool.ts'

/** Below the 60 s after which MCP clients give up on a call when nothing else is set (the default of both SDKs). */
const waitSecondsDefault = 50

/** Well within the shortest limit on silence that is known: 60 s. */
const progressMs = 10_000

export const waitSeconds = z
  .number()
  .min(0)
  .max(toolWaitSecondsMax)
  .default(waitSecondsDefault)
  .describe(
    `How long this call waits for the answer before it returns "pending", in seconds, up to ${toolWaitSecondsMax}. Raise it only if your client waits that long for a tool.`,
  )

/** Waits for an answer, tells the client meanwhile that the call is alive, and takes the question back where nobody can fetch its answer any more. */
export async function waitWithProgress(
  asker: Asker,
  requestId: string,
  call: Call,
  options: { waitMs: number; withdrawWhenLeft: boolean },
): Promise<Outcome | null> {
  const tell = () => call.progress(`Request ${requestId} waits for a person.`).catch(() => {})
  void tell()
  const timer = setInterval(tell, progressMs)
  try {
    const outcome = await asker.wait(requestId, { waitMs: options.waitMs, signal: call.signal })
    if (!outcome && call.signal.aborted && options.withdrawWhenLeft) await asker.withdraw(requestId)
    return outcome
  } finally {
    clearInterval(timer)
  }
}
