import type { IncomingHttpHeaders } from 'node:http'
import { fastifyCookie } from '@fastify/cookie'
import { flushEvery } from '../base/flush-every.ts'
import { digest } from '../base/ids.ts'
import { sql } from '../database/sql.ts'
import type { Journal } from '../events/journal.ts'
import type { Identity } from './identity.ts'
import { identify } from './keys.ts'
import { proxiedUser, type TrustedUserHeader } from './proxied-user.ts'
import { findSignIn } from './sign-in.ts'

/** What a request's headers say about who sends it. */
export type Authentication =
  | { ok: true; identity: Identity; by: 'key' | 'cookie' | 'proxy' }
  /** `missing`: no credential at all; `wrong`: one that is unknown, expired or revoked; `cross-site`: a browser without same-origin proof. */
  | { ok: false; why: 'missing' | 'wrong' | 'cross-site' }

/** Where a credential comes from, for the audit of wrong keys; null where that is no attempt, or counted elsewhere. */
export type CallerAddress = string | null

export interface Authenticator {
  /** `X-API-Key`, `Authorization: Bearer`, or the cookie. A cookie that would change something needs `sameOrigin`. */
  authenticate(
    headers: IncomingHttpHeaders,
    options: { changesState: boolean; address: CallerAddress },
  ): Promise<Authentication>
  /** A key by itself, as `connection_init` carries it. */
  identifyKey(key: string, address: CallerAddress): Promise<Identity | null>
  /** A revoked key stops working here at once, not when the memory of it ends. */
  forget(keyId: string): void
  /** The same for a browser that signed out. */
  forgetCookie(token: string): void
  stop(): Promise<void>
}

export const cookieName = 'holdpoint'

const rememberedMs = 5_000
const rememberedMax = 1_000
const lastUsedFlushMs = 5_000

export function createAuthenticator(options: {
  journal: Journal
  /** Signs the cookie. */
  secret: string
  /** Believed where it is present: `guardUserHeader` takes it off what comes from elsewhere. */
  userHeader?: TrustedUserHeader | null
  onWrongKey?: (address: string) => Promise<void>
  onError: (error: unknown) => void
}): Authenticator {
  const { journal, secret, userHeader = null, onWrongKey, onError } = options
  const remembered = new Map<string, { identity: Identity; until: number }>()
  const used = new Map<string, Date>()

  async function remember(
    credential: string,
    find: () => Promise<Identity | null>,
  ): Promise<Identity | null> {
    const now = journal.now()
    const memory = remembered.get(credential)
    if (memory && memory.until > now.getTime()) return touched(memory.identity, now)
    const identity = await find()
    remembered.delete(credential)
    if (!identity) return null
    if (remembered.size >= rememberedMax) remembered.delete(remembered.keys().next().value!)
    remembered.set(credential, { identity, until: now.getTime() + rememberedMs })
    return touched(identity, now)
  }

  function touched(identity: Identity, now: Date): Identity {
    if (identity.kind === 'api-key') used.set(identity.id, now)
    return identity
  }

  async function identifyKey(key: string, address: CallerAddress): Promise<Identity | null> {
    const identity = await remember(`key:${digest(key)}`, () =>
      identify(journal.database, key, journal.now()),
    )
    if (!identity && address !== null) await onWrongKey?.(address)
    return identity
  }

  async function flush(): Promise<void> {
    const rows = [...used]
    used.clear()
    if (rows.length === 0) return
    const ids = rows.map(([id]) => id)
    // Whoever revokes several keys at once must not wait for this one while this one waits for them.
    await journal.database.query(sql`
      update api_key set last_used_at = used.at
      from unnest(${ids}::uuid[], ${rows.map(([, at]) => at)}::timestamptz[]) as used(id, at)
      where api_key.id = used.id and api_key.id in (
        select id from api_key where id = any(${ids}::uuid[]) for no key update skip locked)`)
  }
  const stop = flushEvery(lastUsedFlushMs, flush, onError)

  return {
    async authenticate(headers, { changesState, address }) {
      const key = keyIn(headers)
      if (key !== null) {
        const identity = await identifyKey(key, address)
        return identity ? { ok: true, identity, by: 'key' } : { ok: false, why: 'wrong' }
      }
      const user = userHeader && proxiedUser(headers[userHeader.name], userHeader)
      if (user) {
        // The proxy signs in whatever the browser sends, also for a page of somebody else.
        if (changesState && !isSameOrigin(headers)) return { ok: false, why: 'cross-site' }
        return { ok: true, identity: user, by: 'proxy' }
      }
      const cookie = fastifyCookie.parse(headers.cookie ?? '')[cookieName]
      if (!cookie) return { ok: false, why: 'missing' }
      const { valid, value } = fastifyCookie.unsign(cookie, secret)
      const identity =
        valid && value ? await remember(`cookie:${digest(value)}`, () => findSignIn(journal, value)) : null
      if (!identity) return { ok: false, why: 'wrong' }
      if (changesState && !isSameOrigin(headers)) return { ok: false, why: 'cross-site' }
      return { ok: true, identity, by: 'cookie' }
    },
    identifyKey,
    forget(keyId) {
      for (const [credential, { identity }] of remembered)
        if (identity.id === keyId) remembered.delete(credential)
    },
    forgetCookie(token) {
      remembered.delete(`cookie:${digest(token)}`)
    },
    stop,
  }
}

/** The key that a request presents in one of its two headers, or null. */
export function keyIn(headers: IncomingHttpHeaders): string | null {
  const direct = headers['x-api-key']
  if (typeof direct === 'string') return direct.trim()
  return bearerKeyIn(headers.authorization ?? '')
}

/** The key in the text of an `Authorization` header, or null. */
export function bearerKeyIn(authorization: string): string | null {
  return /^Bearer\s+(.+)$/i.exec(authorization)?.[1]?.trim() ?? null
}

/**
 * Whether a browser says that the request comes from a page of this very server. Browsers set both headers themselves;
 * no page can forge them.
 */
export function isSameOrigin(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = headers
  if (!origin || !host) return false
  return URL.canParse(origin) && new URL(origin).host === host
}
