import { setTimeout as pause } from 'node:timers/promises'
import { pollWaitSecondsMax } from '../base/limits.ts'
import { type PollAnswer, type Poller, poll } from './poll.ts'

export interface Wait {
  requestId: string
  /** What the limits of held polls count by. */
  address: string
  /** How long to wait; Infinity for as long as it takes. */
  waitMs: number
  /** Fires when the caller hangs up. */
  callerLeft: AbortSignal
  isDraining: () => boolean
}

/** Between two looks where no poll could be held: a limit is reached, or the database cannot be asked. */
const notHeldPauseMs = 1_000

/**
 * Waits for a request's final answer inside the server, as a client does that polls: the same presence, the same
 * limits, the same record of the delivery.
 * @returns `pending` when the time is up, the caller left or the server goes away; null when the request is unknown.
 */
export async function waitForAnswer(poller: Poller, wait: Wait): Promise<PollAnswer | null> {
  const { requestId, address, callerLeft, isDraining } = wait
  const until = performance.now() + wait.waitMs
  for (;;) {
    const begun = performance.now()
    const waitMs = Math.max(0, Math.min(until - begun, pollWaitSecondsMax * 1_000))
    const found = await poll(poller, { requestId, gateTokenId: null, address, waitMs, callerLeft })
    const now = performance.now()
    if (found?.action !== 'pending' || callerLeft.aborted || isDraining() || now >= until) return found
    if (now - begun < notHeldPauseMs)
      await pause(Math.min(notHeldPauseMs, until - now), null, { signal: callerLeft }).catch(() => null)
  }
}
