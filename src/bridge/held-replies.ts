import { randomUUID } from 'node:crypto'
import { isRecord, own } from '../base/json.ts'
import { type Asking, type ElicitResult, faultOf } from './asking.ts'
import { type Change, editLine, errorCode, errorLine, type Message, resultLine } from './message.ts'
import type { OpenCall, OpenCalls } from './open-calls.ts'

/** More rounds than a person would answer for one call. */
const roundsMax = 10

/**
 * Replies that ask instead of answering. Each is held back; once the person has answered, the server gets the same call
 * again under an id of ours, and the client its last reply.
 */
export class HeldReplies {
  readonly #asking: Asking
  readonly #calls: OpenCalls
  readonly #toClient: (line: string) => void
  readonly #toServer: (line: string) => void

  constructor(
    asking: Asking,
    calls: OpenCalls,
    toClient: (line: string) => void,
    toServer: (line: string) => void,
  ) {
    this.#asking = asking
    this.#calls = calls
    this.#toClient = toClient
    this.#toServer = toServer
  }

  /** False when the reply is the client's. */
  hold(call: OpenCall, { result, error }: Message): boolean {
    if (call.rounds >= roundsMax) return false
    if (result && own(result, 'resultType') === 'input_required') return this.#holdInputRequired(call, result)
    if (error && own(error, 'code') === errorCode.urlElicitationRequired)
      return this.#holdUrlRequired(call, error)
    return false
  }

  /** MCP 2026-07-28. What asks for something else beside, or for nothing, only the client can go on with. */
  #holdInputRequired(call: OpenCall, result: Record<string, unknown>): boolean {
    const requests = own(result, 'inputRequests')
    const questions = isRecord(requests) ? Object.entries(requests) : []
    if (questions.length === 0 || !questions.every(([, request]) => isElicitation(request))) return false
    if (!this.#asking.hasRoomFor(questions.length)) return false
    this.#ask(call, async (signal) => {
      const asked = questions.map(([, request]) => own(request as Record<string, unknown>, 'params'))
      const answers = await this.#elicitAll(call, asked, signal)
      return [
        [['params', 'inputResponses'], Object.fromEntries(questions.map(([key], i) => [key, answers[i]]))],
        // Exactly what came, and none where none came.
        [['params', 'requestState'], own(result, 'requestState')],
      ]
    })
    return true
  }

  /** MCP 2025-11-25: the call has to be made again after a visit to one or more addresses. */
  #holdUrlRequired(call: OpenCall, error: Record<string, unknown>): boolean {
    const data = own(error, 'data')
    const listed = isRecord(data) ? own(data, 'elicitations') : null
    if (!Array.isArray(listed) || listed.length === 0 || !listed.every(isRecord)) return false
    const urls = listed.map((params) => String(own(params, 'url')))
    // The person was there already: it is not the visit that is missing.
    if (urls.some((url) => call.askedUrls.has(url)) || !this.#asking.hasRoomFor(listed.length)) return false
    for (const url of urls) call.askedUrls.add(url)
    this.#ask(call, async (signal) => {
      const asked = listed.map((params) => ({ ...params, mode: 'url' }))
      const answers = await this.#elicitAll(call, asked, signal)
      const refused = answers.find((answer) => answer?.action !== 'accept')
      return refused ? refusedVisit(call, refused.action) : []
    })
    return true
  }

  /** `ask` gives the changes to the call that is sent again, or the line that the client gets instead. */
  #ask(call: OpenCall, ask: (signal: AbortSignal) => Promise<Change[] | string>): void {
    const abort = new AbortController()
    call.held = abort
    this.#asking.begin(async () => {
      const next = await ask(abort.signal).catch((error: unknown) => errorLine(call.id, ...faultOf(error)))
      if (abort.signal.aborted || this.#asking.ended.aborted) return
      call.held = null
      if (typeof next === 'string') {
        this.#calls.forget(call)
        this.#toClient(next)
      } else {
        this.#calls.sendAgain(call, `holdpoint-${randomUUID()}`)
        this.#toServer(editLine(call.line.toString(), [[['id'], call.wireId], ...next]))
      }
    })
  }

  /** All at once; when one cannot be asked the others are taken back. */
  async #elicitAll(call: OpenCall, asked: unknown[], signal: AbortSignal): Promise<(ElicitResult | null)[]> {
    const failed = new AbortController()
    const each = AbortSignal.any([signal, failed.signal])
    const answers = asked.map((params) =>
      this.#asking.elicit(isRecord(params) ? params : {}, [call], each).catch((error: unknown) => {
        failed.abort()
        throw error
      }),
    )
    await Promise.allSettled(answers)
    return Promise.all(answers)
  }
}

function isElicitation(request: unknown): boolean {
  return isRecord(request) && own(request, 'method') === 'elicitation/create'
}

function refusedVisit({ id, method }: OpenCall, action: ElicitResult['action']): string {
  const text =
    action === 'decline'
      ? 'The person declined to open the address that this needs, so it was not done.'
      : 'The address that this needs was not visited: nobody decided on it. That is neither a yes nor a no.'
  return method === 'tools/call'
    ? resultLine(id, { content: [{ type: 'text', text }], isError: true })
    : errorLine(id, errorCode.internal, text)
}
