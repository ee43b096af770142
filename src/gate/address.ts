import { isIP } from 'node:net'

/**
 * The address rules of the gate: `PUBLIC_URL` is the one source of the address that agents
 * are told, so what it may look like is decided here and nowhere else.
 */

/** Which addresses of the gate agents are told and may use: the plain one, capability addresses beside it, or these alone. */
export type GateAccess = 'open' | 'mixed' | 'capability'

export type PublicUrl = { ok: true; url: string } | { ok: false; problem: string }

/** Where the open endpoints live below `PUBLIC_URL`. */
const collectionPath = '/api/v1/elicitations'

/**
 * Reads an address that agents and links are to use: absolute http or https, without query, fragment or
 * credentials; a path prefix is fine. Trailing slashes are dropped, so that paths can be appended.
 *
 * The problem is a sentence for the person who configured it and says what to write instead.
 */
export function parsePublicUrl(text: string): PublicUrl {
  const trimmed = text.trim()
  const refuse = (problem: string): PublicUrl => ({
    ok: false,
    problem: `${problem}; write an address like https://holdpoint.example.com or http://192.0.2.7:4010`,
  })
  if (trimmed === '') return refuse('the address is empty')
  // URL itself is too forgiving here: it takes "http:host", drops line breaks and turns backslashes around.
  if (!/^https?:\/\/[^/\\\s]/i.test(trimmed))
    return refuse('the address must start with http:// or https:// and a host')
  if (/[\s\\\u0000-\u001f\u007f]/.test(trimmed))
    return refuse('the address must not contain spaces or backslashes')
  // Looked for in the text, because URL reports "https://host/?" as having no query and "https://@host" no user.
  if (trimmed.includes('?')) return refuse('the address must not have a query')
  if (trimmed.includes('#')) return refuse('the address must not have a fragment')
  if (
    trimmed
      .slice(trimmed.indexOf('//') + 2)
      .split('/', 1)[0]
      ?.includes('@')
  ) {
    return refuse('the address must not contain a user name or password')
  }
  const url = URL.parse(trimmed)
  if (url === null) return refuse('the address is not a valid URL')
  if (isWildcardHost(url.hostname)) {
    return refuse(`${url.hostname} is an address to listen on, not one that anybody can call`)
  }
  return { ok: true, url: url.href.replace(/\/+$/, '') }
}

/**
 * The address of a server that listens on `host` and `port`. For a wildcard host there is none: the caller has to
 * ask for `PUBLIC_URL` (see `isWildcardHost`).
 */
export function publicUrlOf(host: string, port: number): string {
  const bare = unbracketed(host)
  return `http://${isIP(bare) === 6 ? `[${bare}]` : bare}:${port}`
}

/**
 * The collection URL that goes into both `ELICITATION_REQUEST_URL` and `ELICITATION_POLL_URL`: the plain address, or
 * with a token the capability address. The token is a path segment, never a query, because the client appends
 * `/<request id>` to the poll URL.
 */
export function collectionUrl(publicUrl: string, token?: string): string {
  if (token === undefined) return `${publicUrl}${collectionPath}`
  if (!/^[A-Za-z0-9_-]+$/.test(token)) throw new Error('a gate token must be URL-safe characters only')
  return `${publicUrl}/api/v1/gate/${token}/elicitations`
}

/** An address for people to read and for the record: the token in a capability address is a secret. */
export function withoutToken(url: string): string {
  return url.replace(/(\/gate\/)[^/?#]+/, '$1…')
}

/** Whether a URL's host can only be reached from the machine it is used on. */
export function isLoopback(url: string): boolean {
  const parsed = URL.parse(url)
  return parsed !== null && isLoopbackHost(parsed.hostname)
}

/** The same question for a bare host, as in `HOST`: a name, an IPv4 or an IPv6 address (bracketed or not). */
export function isLoopbackHost(host: string): boolean {
  const bare = unbracketed(host).toLowerCase().replace(/\.$/, '')
  if (bare === 'localhost' || bare.endsWith('.localhost')) return true
  if (isIP(bare) === 4) return bare.startsWith('127.')
  if (isIP(bare) !== 6) return false
  // The URL parser writes every spelling of an IPv6 address in one way: ::1, and ::ffff:7f00:1 for 127.0.0.1.
  const canonical = unbracketed(URL.parse(`http://[${bare}]/`)?.hostname ?? '')
  return canonical === '::1' || /^::ffff:7f[0-9a-f]{2}:/.test(canonical)
}

/** Whether a host means "every interface": fine to listen on, impossible to call. */
export function isWildcardHost(host: string): boolean {
  const bare = unbracketed(host)
  return bare === '0.0.0.0' || (isIP(bare) === 6 && URL.parse(`http://[${bare}]/`)?.hostname === '[::]')
}

/**
 * What an operator should hear at start about the pair of addresses; empty when there is nothing to say.
 * `probed` is whether the environment probes the gate (production and staging do).
 */
export function addressWarnings(at: { publicUrl: string; host: string; probed: boolean }): string[] {
  const warnings: string[] = []
  const loopback = isLoopback(at.publicUrl)
  if (loopback && !isLoopbackHost(at.host)) {
    warnings.push(
      `The server listens on ${at.host}, but agents are told ${at.publicUrl}, which on any other machine means that ` +
        'machine itself. Set PUBLIC_URL to the address under which the agents reach this server.',
    )
  }
  if (!loopback && !at.probed) {
    warnings.push(
      `PUBLIC_URL is ${at.publicUrl}, beyond this machine, but in development the gate is not probed: nobody is told ` +
        'when agents cannot reach it. Set HOLDPOINT_ENV to staging or production.',
    )
  }
  return warnings
}

function unbracketed(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}
