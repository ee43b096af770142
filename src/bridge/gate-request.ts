import { errorText } from '../base/error-text.ts'
import { isRecord, own } from '../base/json.ts'
import { withoutToken } from '../gate/address.ts'
import { AskError } from '../mcp/asker.ts'

export interface GateResponse {
  status: number
  body: Record<string, unknown>
}

/** Holdpoint cannot be asked right now; the same request may well succeed later. */
export class Outage extends Error {
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs = 0, options?: ErrorOptions) {
    super(message, options)
    this.name = 'Outage'
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * One request of the fallback protocol. Answers of 2xx come back; what is worth another try throws an `Outage`, and what
 * is not throws an `AskError` with the code and the words of the server.
 */
export async function gateRequest(
  url: string,
  {
    method,
    headers,
    body,
    timeoutMs,
    signal,
  }: {
    method: 'POST' | 'GET' | 'DELETE'
    headers: Record<string, string>
    body?: unknown
    timeoutMs: number
    signal?: AbortSignal
  },
): Promise<GateResponse> {
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs))
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      method,
      // A redirect would turn the creation into a GET of something else.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    text = await response.text()
  } catch (error) {
    throw new Outage(timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : causeOf(error), 0, {
      cause: error,
    })
  }
  const parsed = parse(text)
  const { status } = response
  if (response.ok && parsed) return { status, body: parsed }
  const said = parsed ? own(parsed, 'message') : undefined
  const message = typeof said === 'string' ? said : `HTTP ${status}`
  if (status >= 500 || status === 429)
    throw new Outage(message, secondsIn(response.headers.get('retry-after')) * 1_000)
  const code = parsed ? own(parsed, 'code') : undefined
  if (typeof code === 'string') throw new AskError(code, message)
  throw new AskError(
    'NOT_HOLDPOINT',
    `What answers at ${withoutToken(url)} is not Holdpoint (HTTP ${status}). Check the address.`,
  )
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

function secondsIn(header: string | null): number {
  return header !== null && /^\d{1,4}$/.test(header) ? Number(header) : 0
}

/** `fetch failed` says nothing; what is behind it does. */
function causeOf(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as { code?: unknown }
    if (typeof code === 'string') return code
  }
  return errorText(error)
}
