import { isRecord, own } from '../base/json.ts'
import { bridgeCallsMax } from '../base/limits.ts'
import { idKey, type Message, type MessageId } from './message.ts'

/** A request of the client that its server has not answered yet. */
export interface OpenCall {
  id: MessageId
  method: string
  /** The line as it went to the server; text only when it has to go again. */
  line: Buffer | string
  toolName: string | null
  args: Record<string, unknown>
  meta: Record<string, unknown>
  progressToken: MessageId | null
  /** The progress that the server itself told last, and how often we told it since. */
  progress: { base: number; ticks: number }
  /** The id that the server knows it by: the client's, or our own once it has been sent again. */
  wireId: MessageId
  rounds: number
  /** Addresses that the person was already sent to for this call. */
  askedUrls: Set<string>
  /** Set while its reply is held back; aborts what is asked. */
  held: AbortController | null
}

/** What may come back with a question instead of a result (MCP 2026-07-28), or is what a question is asked in. */
const methods = new Set(['tools/call', 'prompts/get', 'resources/read'])

/** A longer one is passed on like any other; its questions go to the client. */
const lineLengthMax = 4 * 1024 * 1024

/** The calls that are open between a client and its server, by either's id. */
export class OpenCalls {
  readonly #byClientId = new Map<string, OpenCall>()
  readonly #byWireId = new Map<string, OpenCall>()

  remember(message: Message, id: MessageId, sent: Buffer | string): void {
    const { method, params } = message
    if (method === null || !methods.has(method) || sent.length > lineLengthMax) return
    if (this.#byClientId.size >= bridgeCallsMax) return
    const [name, args, meta] = [own(params, 'name'), own(params, 'arguments'), own(params, '_meta')]
    const token = isRecord(meta) ? own(meta, 'progressToken') : null
    const call: OpenCall = {
      id,
      method,
      line: sent,
      toolName: typeof name === 'string' ? name : null,
      args: isRecord(args) ? args : {},
      meta: isRecord(meta) ? meta : {},
      progressToken: typeof token === 'string' || typeof token === 'number' ? token : null,
      progress: { base: 0, ticks: 0 },
      wireId: id,
      rounds: 0,
      askedUrls: new Set(),
      held: null,
    }
    this.#byClientId.set(idKey(id), call)
    this.#byWireId.set(idKey(id), call)
  }

  byClientId(id: unknown): OpenCall | null {
    return this.#byClientId.get(idKey(id)) ?? null
  }

  byWireId(id: MessageId): OpenCall | null {
    return this.#byWireId.get(idKey(id)) ?? null
  }

  /** The server tells the client how far a call is. */
  progressed(token: unknown, progress: unknown): void {
    if (typeof progress !== 'number') return
    const wanted = idKey(token)
    for (const call of this.#byClientId.values())
      if (call.progressToken !== null && idKey(call.progressToken) === wanted)
        call.progress = { base: progress, ticks: 0 }
  }

  /** The server gets it again, under an id of ours. */
  sendAgain(call: OpenCall, wireId: MessageId): void {
    this.#byWireId.delete(idKey(call.wireId))
    call.wireId = wireId
    call.rounds += 1
    this.#byWireId.set(idKey(wireId), call)
  }

  forget(call: OpenCall): void {
    this.#byClientId.delete(idKey(call.id))
    this.#byWireId.delete(idKey(call.wireId))
  }

  [Symbol.iterator](): IterableIterator<OpenCall> {
    return this.#byClientId.values()
  }

  /** Those that a question of the server may be about. */
  tools(): OpenCall[] {
    return [...this].filter(({ method, held }) => method === 'tools/call' && held === null)
  }
}
