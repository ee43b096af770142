import { collectionUrl } from '../gate/address.ts'
import { clientTtlMs } from '../gate/spawn-environment.ts'

/** Where questions are put over HTTP: the fallback protocol's address, and what goes with it. */
export interface GateAddress {
  /** The collection that requests are created in. */
  requestUrl: string
  /** The collection below which they are polled. */
  pollUrl: string
  sessionId: string | null
  /** A key, where the address itself says nothing of the session. */
  apiKey: string | null
  /** How long an answer is worth waiting for; null for as long as the server says. */
  ttlMs: number | null
}

/**
 * Out of the environment that an MCP server of the session is given: the five variables, or else `HOLDPOINT_URL` with a
 * key that is bound to the session. Null when neither is there.
 */
export function findGateAddress(
  environment: Readonly<Record<string, string | undefined>>,
): GateAddress | null {
  const read = (name: string) => environment[name]?.trim() || null
  const sessionId = read('ELICITATION_SESSION_ID')
  const ttl = read('ELICITATION_TTL_MS')
  const common = { sessionId, ttlMs: ttl === null ? null : clientTtlMs(ttl) }
  const [requestUrl, url] = [read('ELICITATION_REQUEST_URL'), read('HOLDPOINT_URL')]
  if (requestUrl !== null)
    return { requestUrl, pollUrl: read('ELICITATION_POLL_URL') ?? requestUrl, apiKey: null, ...common }
  const apiKey = read('HOLDPOINT_API_KEY')
  if (url === null || (apiKey === null && sessionId === null)) return null
  const address = collectionUrl(url.replace(/\/+$/, ''))
  return { requestUrl: address, pollUrl: address, apiKey, ...common }
}

/** What to do where `findGateAddress` found nothing. */
export const noGateAddress =
  'It is not known where to ask: set ELICITATION_REQUEST_URL and ELICITATION_SESSION_ID (holdpoint env --session ID prints them), or HOLDPOINT_URL and HOLDPOINT_API_KEY with a key that is bound to the session.'
