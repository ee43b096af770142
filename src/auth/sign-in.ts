import { digest, newToken } from '../base/ids.ts'
import type { ApiKey } from '../database/generated/prisma/client.ts'
import { sql } from '../database/sql.ts'
import { systemActor } from '../events/event.ts'
import type { Journal, JournalEntry } from '../events/journal.ts'
import { actorOf, type Identity } from './identity.ts'
import { identityOf, isValid } from './keys.ts'

export const signInLinkMs = 15 * 60_000
export const browserSignInMs = 30 * 24 * 60 * 60_000

/** A link's token: good once, for a quarter of an hour, and for what its key is good for. */
export async function createSignInLink(journal: Journal, apiKeyId: string): Promise<string> {
  return journal.write(async (entry) => {
    const at = journal.now()
    entry.append({ type: 'sign_in.link_created', actor: systemActor, data: { keyId: apiKeyId }, at })
    return create(entry, 'link', apiKeyId, at)
  })
}

/** A browser that was signed in: the token of its cookie, and whose it is. */
export interface SignedIn {
  token: string
  identity: Identity
}

/** Signs a browser in with a key, from a network address; null when the key is not valid any more. */
export async function signInBrowser(
  journal: Journal,
  apiKeyId: string,
  address: string | null = null,
): Promise<SignedIn | null> {
  return journal.write((entry) => signIn(entry, apiKeyId, { by: 'key', address }, journal.now()))
}

/** Exchanges a link's token, once; null when the link is used up, too old or unknown. */
export async function redeemSignInLink(
  journal: Journal,
  token: string,
  address: string | null = null,
): Promise<SignedIn | null> {
  return journal.write(async (entry) => {
    const now = journal.now()
    const [link] = await entry.query<{ apiKeyId: string }>(sql`
      update sign_in set ended_at = ${now}
      where token_hash = ${digest(token)} and kind = 'link' and ended_at is null and expires_at > ${now}
      returning api_key_id`)
    return link ? signIn(entry, link.apiKeyId, { by: 'link', address }, now) : null
  })
}

async function signIn(
  entry: JournalEntry,
  apiKeyId: string,
  how: { by: 'key' | 'link'; address: string | null },
  at: Date,
): Promise<SignedIn | null> {
  const [key] = await entry.query<ApiKey>(sql`select * from api_key where id = ${apiKeyId}`)
  if (!key || !isValid(key, at)) return null
  const identity = identityOf(key)
  entry.append({
    type: 'sign_in.succeeded',
    actor: actorOf(identity),
    data: { ...how, keyId: apiKeyId },
    at,
  })
  return { token: await create(entry, 'browser', apiKeyId, at), identity }
}

/** The identity behind a cookie's token: that of its key, as long as both are valid. */
export async function findSignIn(journal: Journal, token: string): Promise<Identity | null> {
  const now = journal.now()
  const [key] = await journal.database.query<ApiKey>(sql`
    select k.* from sign_in s join api_key k on k.id = s.api_key_id
    where s.token_hash = ${digest(token)} and s.kind = 'browser' and s.ended_at is null and s.expires_at > ${now}`)
  return key && isValid(key, now) ? identityOf(key) : null
}

export async function signOut(journal: Journal, token: string, address: string | null = null): Promise<void> {
  await journal.write(async (entry) => {
    const at = journal.now()
    const [key] = await entry.query<ApiKey>(sql`
      update sign_in s set ended_at = ${at} from api_key k
      where k.id = s.api_key_id and s.token_hash = ${digest(token)} and s.kind = 'browser' and s.ended_at is null
      returning k.*`)
    if (!key) return
    entry.append({
      type: 'sign_in.ended',
      actor: actorOf(identityOf(key)),
      data: { keyId: key.id, address },
      at,
    })
  })
}

async function create(
  entry: JournalEntry,
  kind: 'link' | 'browser',
  apiKeyId: string,
  at: Date,
): Promise<string> {
  const token = newToken(32)
  const expiresAt = new Date(at.getTime() + (kind === 'link' ? signInLinkMs : browserSignInMs))
  await entry.query(sql`
    insert into sign_in (token_hash, kind, api_key_id, created_at, expires_at)
    values (${digest(token)}, ${kind}, ${apiKeyId}, ${at}, ${expiresAt})`)
  return token
}
