import { isRecord } from '../base/json.ts'
import { createApi, succeeded } from './api.ts'
import type { ActionWord } from './choices.ts'
import { findConnection, requireOwnKey } from './connection.ts'
import { type AnswerData, answerDocument, type Elicitation } from './documents.ts'
import { contentOf, parseSetWords } from './form-values.ts'
import { findRequest } from './pending.ts'
import { exitCodes, Problem } from './problem.ts'
import { endText } from './request-text.ts'
import { sayJson, type Terminal } from './terminal.ts'

export interface AnswerOptions {
  content?: string
  set?: string[]
  note?: string
  json?: boolean
}

/** Answers a request, as the person whose key it is. */
export async function answer(
  options: AnswerOptions,
  requestId: string,
  action: ActionWord,
  terminal: Terminal,
): Promise<number> {
  const { content: json, set = [], note } = options
  if (json !== undefined && set.length > 0)
    throw new Problem('Give --content or --set, not both.', exitCodes.usage)
  if (action !== 'accept' && (json !== undefined || set.length > 0))
    throw new Problem(`Only an accept carries content; a ${action} takes a --note.`, exitCodes.usage)
  const given = parseSetWords(set)
  const parsed = json === undefined ? undefined : parseContent(json)
  const connection = await findConnection(terminal.environment)
  requireOwnKey(connection, 'Answering', 'responder')
  const api = createApi(connection)

  const content = given.size === 0 ? parsed : contentOf(given, (await findRequest(api, requestId)).form)
  const input = { requestId, action: action.toUpperCase(), content, note }
  const { respondToElicitation } = await api.request<AnswerData>(answerDocument, { input })
  const { elicitation } = succeeded<{ elicitation: Elicitation }>(respondToElicitation)
  if (options.json) sayJson(terminal, elicitation)
  else terminal.say(`${elicitation.requestId}: ${endText(elicitation)}`)
  return exitCodes.done
}

function parseContent(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Problem(
      '--content is not JSON. Write an object, such as \'{"reason": "tested"}\'.',
      exitCodes.usage,
    )
  }
  if (!isRecord(value))
    throw new Problem('--content must be a JSON object of values by field name.', exitCodes.usage)
  return value
}
