import { text } from 'node:stream/consumers'
import { errorText } from '../base/error-text.ts'
import { findGateAddress, noGateAddress } from '../bridge/gate-address.ts'
import { createGateClient } from '../bridge/gate-client.ts'
import { elicitationHookReply, parseElicitationHook } from '../gate/claude-elicitation-hook.ts'
import { formQuestion } from '../mcp/asker.ts'
import { exitCodes } from './problem.ts'
import { onStop, signalOf } from './stopping.ts'
import type { Terminal } from './terminal.ts'

/**
 * The Elicitation hook of Claude Code, of the type command: its JSON on stdin, the decision as JSON on stdout. Without a
 * decision it exits with 1, which leaves the matter to Claude Code. Never with 2: that would be a decline.
 */
export async function hook(
  runtime: string | undefined,
  { environment, say, note }: Terminal,
): Promise<number> {
  const undecided = (why: string) => {
    note(`holdpoint hook: ${why}`)
    return exitCodes.failed
  }
  if (runtime !== 'claude-code') return undecided('Say whose hook it is: holdpoint hook claude-code')
  const stopped = onStop()
  try {
    const input = await Promise.race([text(process.stdin), signalOf(stopped)])
    if (stopped.aborted) return undecided('it was stopped before it was told what to ask')
    const parsed = parseElicitationHook(JSON.parse(input))
    if (!parsed.ok) return undecided(parsed.problem)
    const address = findGateAddress(environment)
    if (!address) return undecided(noGateAddress)
    const { elicitation } = parsed
    const gate = createGateClient(address, { log: (message) => note(`holdpoint hook: ${message}`) })
    const outcome = await gate.hold(formQuestion(elicitation), stopped)
    if (!outcome) return undecided('it was stopped before anybody decided; the question was taken back')
    say(JSON.stringify(elicitationHookReply(elicitation.mode, outcome)))
    return exitCodes.done
  } catch (error) {
    return undecided(errorText(error))
  } finally {
    process.stdin.destroy()
  }
}
