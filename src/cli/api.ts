import { makeVisible, truncate } from '../base/text.ts'
import type { Connection } from './connection.ts'
import { exitCodes, Problem, Refused, ServerAway } from './problem.ts'

export interface Api {
  connection: Connection
  /**
   * Asks the server. Throws `ServerAway` when it cannot be asked at present, `Problem` when the key will not do, and
   * `Refused` when the request itself was refused.
   */
  request<Data>(document: string, variables?: object, signal?: AbortSignal): Promise<Data>
}

interface Answer {
  data?: unknown
  errors?: { message: string; extensions?: { code?: string } }[]
}

const requestTimeoutMs = 30_000
const quotedCharactersMax = 2_000

export function createApi(connection: Connection): Api {
  const { url, apiKey } = connection
  return {
    connection,
    async request<Data>(document: string, variables: object = {}, signal?: AbortSignal): Promise<Data> {
      const response = await post(url, apiKey, JSON.stringify({ query: document, variables }), signal)
      const answer = await answerOf(response)
      if (response.status === 401) throw wrongKey(connection)
      if (answer === null || (!answer.errors && answer.data === undefined)) {
        if (response.status >= 500) throw away(url, `it answered with HTTP ${response.status}`)
        throw new Problem(
          `${url} answered with HTTP ${response.status} and is no Holdpoint server. Check HOLDPOINT_URL.`,
          exitCodes.unreachable,
        )
      }
      const [error] = answer.errors ?? []
      if (error) throw problemOf(error, response.status)
      return answer.data as Data
    },
  }
}

/** What a mutation came to: its success, or the refusal as a problem. */
export function succeeded<Success extends object>(
  result: {
    __typename: string
    message?: string
    fields?: { name: string; message: string }[]
  } & Partial<Success>,
): Success {
  if (result.__typename.endsWith('Success')) return result as unknown as Success
  const fields = (result.fields ?? []).map(({ name, message }) => `\n  ${name ? `${name}: ` : ''}${message}`)
  const shown =
    fields.length > 0 && !result.message?.includes(result.fields![0]!.message) ? fields.join('') : ''
  throw new Refused(quoted(`${result.message ?? result.__typename}${shown}`))
}

async function post(url: string, apiKey: string, body: string, signal?: AbortSignal): Promise<Response> {
  const timeout = AbortSignal.timeout(requestTimeoutMs)
  try {
    return await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey, 'holdpoint-client': 'cli' },
      body,
      // A server that sends us elsewhere is not the one that the key is for.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
    })
  } catch (error) {
    throw away(url, reasonOf(error), error)
  }
}

async function answerOf(response: Response): Promise<Answer | null> {
  try {
    const answer: unknown = await response.json()
    return typeof answer === 'object' && answer !== null ? answer : null
  } catch {
    return null
  }
}

function away(url: string, why: string, cause?: unknown): ServerAway {
  return new ServerAway(
    `The Holdpoint server at ${url} could not be reached: ${why}. Start it (holdpoint serve), or set HOLDPOINT_URL to where it is. "holdpoint doctor" looks closer.`,
    { cause },
  )
}

function wrongKey({ url, key }: Connection): Problem {
  return new Problem(
    key === 'own'
      ? `${url} does not know the key in HOLDPOINT_API_KEY: it is wrong, expired or revoked. Ask an admin for another one.`
      : `${url} does not know this machine's launcher key: the server there uses another data folder or database. Restart the server, or set HOLDPOINT_API_KEY.`,
    exitCodes.notAllowed,
  )
}

function problemOf({ message, extensions }: NonNullable<Answer['errors']>[number], status: number): Problem {
  if (extensions?.code === 'UNAUTHENTICATED' || extensions?.code === 'FORBIDDEN')
    return new Problem(quoted(message), exitCodes.notAllowed)
  if (status >= 500 || extensions?.code === 'INTERNAL' || extensions?.code === 'DATABASE_UNAVAILABLE')
    return new ServerAway(`The server could not do it: ${quoted(message)}`)
  return new Refused(quoted(message))
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer within ${requestTimeoutMs / 1000} s`
  // `fetch failed` is all that fetch says; the reason is its cause.
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code === 'ECONNREFUSED') return 'nothing listens there'
  if (code === 'ENOTFOUND') return 'the host name does not resolve'
  return code || (cause instanceof Error ? cause.message : error.message)
}

function quoted(text: string): string {
  return makeVisible(truncate(text, quotedCharactersMax))
}
