import { isRecord, own } from '../base/json.ts'
import { type Asking, faultOf } from './asking.ts'
import { errorCode, errorLine, idKey, type MessageId, notificationLine, resultLine } from './message.ts'
import type { OpenCall, OpenCalls } from './open-calls.ts'

interface HeldRequest {
  abort: AbortController
  begun: number
  /** The calls that it may be asked for. */
  candidates: Set<OpenCall>
  /** Who cancels its own request wants no answer. */
  cancelled: boolean
  progressToken: unknown
  progress: number
}

/**
 * The server's own `elicitation/create` (revisions up to 2025-11-25). Each is answered under its id, and the client never
 * sees it.
 */
export class HeldRequests {
  readonly #asking: Asking
  readonly #calls: OpenCalls
  readonly #toServer: (line: string) => void
  readonly #held = new Map<string, HeldRequest>()

  constructor(asking: Asking, calls: OpenCalls, toServer: (line: string) => void) {
    this.#asking = asking
    this.#calls = calls
    this.#toServer = toServer
  }

  hold(id: MessageId, params: Record<string, unknown>): void {
    const asking = this.#asking
    if (!asking.hasRoomFor(1)) {
      if (!asking.ended.aborted)
        this.#toServer(
          errorLine(id, errorCode.internal, 'Too many questions wait for a person already. Ask again later.'),
        )
      return
    }
    const calls = this.#calls.tools()
    const meta = own(params, '_meta')
    const held: HeldRequest = {
      abort: new AbortController(),
      begun: performance.now(),
      candidates: new Set(calls),
      cancelled: false,
      progressToken: isRecord(meta) ? own(meta, 'progressToken') : undefined,
      progress: 0,
    }
    this.#held.set(idKey(id), held)
    asking.begin(async () => {
      let reply: string
      try {
        // Whoever cancelled the call that asks wants no answer of a person, but its server must not wait for one.
        reply = resultLine(
          id,
          (await asking.elicit(params, calls, held.abort.signal)) ?? { action: 'cancel' },
        )
      } catch (error) {
        reply = errorLine(id, ...faultOf(error))
      } finally {
        this.#held.delete(idKey(id))
      }
      if (!held.cancelled && !asking.ended.aborted) this.#toServer(reply)
    })
  }

  /** The server stopped waiting. False when the request is none that is held. */
  cancelledByServer(id: unknown, reason: unknown): boolean {
    const held = this.#held.get(idKey(id))
    if (!held) return false
    held.cancelled = true
    held.abort.abort()
    if (/time(d)?[ -]?out/i.test(String(reason))) this.#asking.gaveUpAfter(performance.now() - held.begun)
    return true
  }

  /** The client cancelled a call: what was asked for that one alone is taken back. */
  callCancelled(call: OpenCall): void {
    for (const { abort, candidates } of this.#held.values())
      if (candidates.delete(call) && candidates.size === 0) abort.abort()
  }

  /** What the server still asks is not about a call that it has answered. */
  callAnswered(call: OpenCall): void {
    for (const { candidates } of this.#held.values()) candidates.delete(call)
  }

  /** Where the server asked for it, it hears that its request is alive: its own time-out may be one on silence. */
  tick(message: string): void {
    for (const held of this.#held.values()) {
      if (held.progressToken === undefined) continue
      held.progress += 1
      const { progressToken, progress } = held
      this.#toServer(notificationLine('notifications/progress', { progressToken, progress, message }))
    }
  }
}
