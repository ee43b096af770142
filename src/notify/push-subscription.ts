import { ECDH } from 'node:crypto'
import { z } from 'zod'
import { newId } from '../base/ids.ts'
import { pushEndpointCharactersMax, pushSubscriptionsPerOwnerMax } from '../base/limits.ts'
import { type FieldProblem, InvalidInputError, invalidInput } from '../base/refusal.ts'
import type { Queryable } from '../database/database.ts'
import type { PushSubscription } from '../database/generated/prisma/client.ts'
import { sql } from '../database/sql.ts'
import type { Journal } from '../events/journal.ts'
import { isPublicHost } from './public-address.ts'
import type { PushAddresses } from './web-push.ts'

export type { PushSubscription }

/** Whose subscription it is. With a key it ends; without, its owner is a user whom a trusted proxy names. */
export interface Owner {
  id: string
  apiKeyId: string | null
}

/** What a browser's `PushSubscription.toJSON()` gives; `expirationTime` is null in all of them. */
const shape = z.object({
  endpoint: z.string().max(pushEndpointCharactersMax),
  keys: z.object({ p256dh: z.string().max(200), auth: z.string().max(100) }),
})

/**
 * Keeps a browser's subscription; the same endpoint again is the same subscription, in the hands of whoever sends it.
 * The endpoint is an address that this server will call, so it must be https and its host on the public internet.
 */
export async function subscribe(
  journal: Journal,
  input: unknown,
  owner: Owner,
  addresses: PushAddresses,
): Promise<PushSubscription | InvalidInputError> {
  const parsed = shape.safeParse(input)
  if (!parsed.success)
    return invalidInput(
      'subscription',
      'Send what the browser gives: {"endpoint": "https://…", "keys": {"p256dh": "…", "auth": "…"}}.',
    )
  const { endpoint, keys } = parsed.data
  const problems: FieldProblem[] = []
  const problem = await problemOfEndpoint(endpoint, addresses)
  if (problem) problems.push({ name: 'endpoint', messages: [problem] })
  const p256dh = pointOnP256(keys.p256dh)
  const auth = Buffer.from(keys.auth, 'base64url')
  if (p256dh === null)
    problems.push({ name: 'keys.p256dh', messages: ["This is not a browser's public key."] })
  if (auth.length !== 16)
    problems.push({ name: 'keys.auth', messages: ['This is not a secret of 16 bytes.'] })
  if (problems.length > 0) return new InvalidInputError(problems)

  const now = journal.now()
  return journal.write(async (entry) => {
    const [row] = await entry.query<PushSubscription>(sql`
      insert into push_subscription (id, endpoint, p256dh, auth, owner, api_key_id, created_at)
      values (${newId()}, ${endpoint}, ${p256dh}, ${auth.toString('base64url')}, ${owner.id}, ${owner.apiKeyId}, ${now})
      on conflict (endpoint) do update set p256dh = excluded.p256dh, auth = excluded.auth, owner = excluded.owner,
        api_key_id = excluded.api_key_id, created_at = excluded.created_at
      returning *`)
    await entry.query(sql`
      delete from push_subscription where id in (
        select id from push_subscription where owner = ${owner.id}
        order by created_at desc, id desc offset ${pushSubscriptionsPerOwnerMax})`)
    return row!
  })
}

/** Whoever knows an endpoint may end its subscription: nobody but its browser and this server does. */
export async function unsubscribe(on: Queryable, endpoint: string): Promise<boolean> {
  if (endpoint.includes('\0')) return false
  const rows = await on.query(sql`delete from push_subscription where endpoint = ${endpoint} returning id`)
  return rows.length > 0
}

/** Every browser that may be told now: the key behind it is neither revoked nor expired. */
export function listSubscriptions(on: Queryable, now: Date): Promise<PushSubscription[]> {
  return on.query<PushSubscription>(sql`
    select p.* from push_subscription p left join api_key k on k.id = p.api_key_id
    where k.id is null or (k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now}))`)
}

/** One of these, by its id or its endpoint. */
export async function findSubscription(
  on: Queryable,
  { id = null, endpoint = null }: { id?: string | null; endpoint?: string | null },
  now: Date,
): Promise<PushSubscription | null> {
  if (endpoint?.includes('\0')) return null
  const [row] = await on.query<PushSubscription>(sql`
    select p.* from push_subscription p left join api_key k on k.id = p.api_key_id
    where (p.id = ${id}::uuid or p.endpoint = ${endpoint})
      and (k.id is null or (k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now})))`)
  return row ?? null
}

/** The push service said that the browser is no more. */
export async function forgetSubscription(on: Queryable, id: string): Promise<void> {
  await on.query(sql`delete from push_subscription where id = ${id}`)
}

/** Ends the subscriptions of keys that were revoked. */
export async function endSubscriptionsOfKeys(on: Queryable, apiKeyIds: string[]): Promise<void> {
  if (apiKeyIds.length === 0) return
  await on.query(sql`delete from push_subscription where api_key_id = any(${apiKeyIds}::uuid[])`)
}

/** Ends what has an expired or revoked key behind it. */
export async function pruneSubscriptions(on: Queryable, now: Date): Promise<void> {
  await on.query(sql`
    delete from push_subscription p using api_key k
    where k.id = p.api_key_id and (k.revoked_at is not null or k.expires_at <= ${now})`)
}

async function problemOfEndpoint(endpoint: string, addresses: PushAddresses): Promise<string | null> {
  const url = URL.parse(endpoint)
  if (url === null || endpoint.includes('\0')) return 'This is not an address.'
  if (addresses === 'any') return null
  if (url.protocol !== 'https:') return 'A push endpoint is an https address.'
  if (url.username || url.password) return 'A push endpoint has no credentials in it.'
  return (await isPublicHost(url))
    ? null
    : 'A push endpoint is on the public internet; this host is not, or has no address.'
}

/** The key as base64url, or null when it is no point on the curve that Web Push encrypts with (RFC 8291). */
function pointOnP256(key: string): string | null {
  const bytes = Buffer.from(key, 'base64url')
  if (bytes.length !== 65) return null
  try {
    ECDH.convertKey(bytes, 'prime256v1')
    return bytes.toString('base64url')
  } catch {
    return null
  }
}
