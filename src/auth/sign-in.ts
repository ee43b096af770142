import { digest, newToken } from '../base/ids.ts'
import type { ApiKey } from '../database/generated/prisma/client.ts'
import { sql } from '../database/sql.ts'
import type { Journal } from '../events/journal.ts'
import type { Identity } from './identity.ts'
import { identityOf, isValid } from './keys.ts'

export const signInLinkMs = 15 * 60_000
export const browserSignInMs = 30 * 24 * 60 * 60_000

/** A link's token: good once, for a quarter of an hour, and for what its key is good for. */
export async function createSignInLink(journal: Journal, apiKeyId: string): Promise<string> {
  return create(journal, 'link', apiKeyId, signInLinkMs)
}

/** Signs a browser in with a key that has been identified. @returns the token of its cookie. */
export async function signInBrowser(journal: Journal, apiKeyId: string): Promise<string> {
  return create(journal, 'browser', apiKeyId, browserSignInMs)
}

/** Exchanges a link's token, once. @returns the token of a cookie, or null when the link is used up, too old or unknown. */
export async function redeemSignInLink(journal: Journal, token: string): Promise<string | null> {
  const now = journal.now()
  const [link] = await journal.database.query<{ apiKeyId: string }>(sql`
    update sign_in set ended_at = ${now}
    where token_hash = ${digest(token)} and kind = 'link' and ended_at is null and expires_at > ${now}
    returning api_key_id`)
  return link ? signInBrowser(journal, link.apiKeyId) : null
}

/** The identity behind a cookie's token: that of its key, as long as both are valid. */
export async function findSignIn(journal: Journal, token: string): Promise<Identity | null> {
  const now = journal.now()
  const [key] = await journal.database.query<ApiKey>(sql`
    select k.* from sign_in s join api_key k on k.id = s.api_key_id
    where s.token_hash = ${digest(token)} and s.kind = 'browser' and s.ended_at is null and s.expires_at > ${now}`)
  return key && isValid(key, now) ? identityOf(key) : null
}

export async function signOut(journal: Journal, token: string): Promise<void> {
  await journal.database.query(sql`
    update sign_in set ended_at = ${journal.now()} where token_hash = ${digest(token)} and kind = 'browser'`)
}

async function create(
  journal: Journal,
  kind: 'link' | 'browser',
  apiKeyId: string,
  validMs: number,
): Promise<string> {
  const token = newToken(32)
  const now = journal.now()
  await journal.database.query(sql`
    insert into sign_in (token_hash, kind, api_key_id, created_at, expires_at)
    values (${digest(token)}, ${kind}, ${apiKeyId}, ${now}, ${new Date(now.getTime() + validMs)})`)
  return token
}
