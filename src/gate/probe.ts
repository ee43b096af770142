/** This request id is reserved: nobody can create it, so the expected answer of a working gate is 404. */
export const probeRequestId = 'holdpoint-reachability-probe'

/** A gate that has not answered by then is as good as none. */
const probeTimeoutMs = 5_000

export interface ProbeResult {
  url: string
  reachable: boolean
  /** Short and for people: `HTTP 404`, `connection refused (ECONNREFUSED)`. */
  detail: string
  checkedAt: Date
}

export interface ProbeSettings {
  timeoutMs?: number
  fetch?: typeof globalThis.fetch
  now?: () => Date
}

/**
 * Asks whether agents can reach the gate from this host: a GET below the collection URL. Any HTTP response counts as
 * reachable, a 500 too; only a transport failure is a broken gate. Never throws for what the network does.
 */
export async function probe(url: string, settings: ProbeSettings = {}): Promise<ProbeResult> {
  const { timeoutMs = probeTimeoutMs, fetch = globalThis.fetch, now = () => new Date() } = settings
  const signal = AbortSignal.timeout(timeoutMs)
  const checkedAt = now()
  try {
    const response = await fetch(`${url}/${probeRequestId}?wait=0`, {
      // A redirect is an answer too; following it would probe some other address.
      redirect: 'manual',
      signal,
      headers: { accept: 'application/json' },
    })
    // The body says nothing more and may never end. A failure to drop it cannot matter: the answer is in.
    await response.body?.cancel().catch(() => undefined)
    return { url, reachable: true, detail: `HTTP ${response.status}`, checkedAt }
  } catch (error) {
    return {
      url,
      reachable: false,
      detail: signal.aborted ? timedOut(timeoutMs) : describe(error),
      checkedAt,
    }
  }
}

function timedOut(timeoutMs: number): string {
  return `no answer within ${timeoutMs / 1000} s`
}

const meanings: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset'],
  ['EHOSTUNREACH', 'no route to the host'],
  ['ENETUNREACH', 'network unreachable'],
  ['ENOTFOUND', 'the host name does not resolve'],
  ['EAI_AGAIN', 'the host name does not resolve at present'],
  ['ETIMEDOUT', 'connecting timed out'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connecting timed out'],
  ['UND_ERR_HEADERS_OVERFLOW', 'the response headers are too large'],
  ['UND_ERR_HEADERS_TIMEOUT', 'the response headers never ended'],
  ['UND_ERR_SOCKET', 'connection closed without an answer'],
])

/** `fetch` only says "fetch failed"; what happened is the cause, which for a name with two addresses is a list. */
function describe(error: unknown): string {
  const causes: unknown[] = [error]
  let code: string | undefined
  let message = ''
  // Bounded: a cause chain is normally two long, and nothing forbids a circle.
  for (let depth = 0; depth < 8 && causes.length > 0 && code === undefined; depth++) {
    const cause = causes.shift()
    if (!(cause instanceof Error)) continue
    if (cause.name === 'HTTPParserError') return 'the answer is not HTTP'
    message = cause.message || message
    if ('code' in cause && typeof cause.code === 'string') code = cause.code
    if (cause instanceof AggregateError) causes.push(...cause.errors)
    causes.push(cause.cause)
  }
  if (code === undefined) return shortened(message || String(error))
  return `${meanings.get(code) ?? kindOf(code, message)} (${code})`
}

function kindOf(code: string, message: string): string {
  const tls = /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|EPROTO)/.test(
    code,
  )
  return tls ? `TLS failed: ${shortened(message)}` : shortened(message)
}

function shortened(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  return line.length > 120 ? `${line.slice(0, 119)}…` : line
}
