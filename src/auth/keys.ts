import { timingSafeEqual } from 'node:crypto'
import { digest, isUuid, newId, newToken } from '../base/ids.ts'
import { holderNameCharactersMax, keyCharactersMax } from '../base/limits.ts'
import { type FieldProblem, InvalidInputError, NotFoundError, type Refusal } from '../base/refusal.ts'
import type { Queryable } from '../database/database.ts'
import type { ApiKey } from '../database/generated/prisma/client.ts'
import { sql } from '../database/sql.ts'
import type { Actor } from '../events/event.ts'
import type { Journal, JournalEntry } from '../events/journal.ts'
import type { Identity } from './identity.ts'
import type { Role } from './role.ts'

export interface NewKey {
  name: string
  role: Role
  expiresAt?: Date | null
  /** Binds the key to a session. */
  sessionId?: string | null
  /** A key that somebody chose; made up when absent. */
  secret?: string
}

/** Makes a key. The secret is returned this once; only its hash and its first characters are kept. */
export async function createKey(
  journal: Journal,
  input: NewKey,
  actor: Actor,
): Promise<{ apiKey: ApiKey; secret: string } | Refusal> {
  const now = journal.now()
  const problems: FieldProblem[] = []
  const name = input.name.trim()
  if (name === '' || name.length > holderNameCharactersMax || name.includes('\0'))
    problems.push({
      name: 'name',
      messages: [`Give the key a name of 1 to ${holderNameCharactersMax} characters.`],
    })
  if (input.expiresAt && input.expiresAt <= now)
    problems.push({ name: 'expiresAt', messages: ['Choose a time in the future.'] })
  if (problems.length > 0) return new InvalidInputError(problems)
  return journal.write(async (entry) => {
    if (input.sessionId != null) {
      const known =
        isUuid(input.sessionId) &&
        (await entry.query(sql`select 1 from session where id = ${input.sessionId}`)).length > 0
      if (!known) return new NotFoundError('There is no such session to bind the key to. Check its id.')
    }
    return insertKey(entry, { ...input, name }, actor, now)
  })
}

/** Writes a key whose values have been checked. */
export async function insertKey(
  entry: JournalEntry,
  { name, role, expiresAt = null, sessionId = null, secret = `hp_${newToken(6)}_${newToken(24)}` }: NewKey,
  actor: Actor,
  now: Date,
): Promise<{ apiKey: ApiKey; secret: string }> {
  const [apiKey] = await entry.query<ApiKey>(sql`
    insert into api_key (id, name, prefix, hash, role, session_id, created_at, expires_at)
    values (${newId()}, ${name}, ${prefixOf(secret)}, ${digest(secret)}, ${role}, ${sessionId}, ${now}, ${expiresAt})
    returning *`)
  entry.append({ type: 'key.created', sessionId, actor, data: { keyId: apiKey!.id, name, role }, at: now })
  return { apiKey: apiKey!, secret }
}

/** The key with its row locked, after its session: the order in which an archive locks the two. The events will need both. */
export async function lockKey(entry: Queryable, id: string): Promise<ApiKey | null> {
  void entry.query(sql`
    select 1 from session where id = (select session_id from api_key where id = ${id}) for key share`)
  const [key] = await entry.query<ApiKey>(sql`select * from api_key where id = ${id} for update`)
  return key ?? null
}

/** Revokes a key at once. What it opened is ended by whoever follows `key.revoked` on the timeline. */
export async function revokeKey(journal: Journal, id: string, actor: Actor): Promise<ApiKey | NotFoundError> {
  if (!isUuid(id)) return unknownKey()
  const now = journal.now()
  return journal.write(async (entry) => {
    const before = await lockKey(entry, id)
    if (!before) return unknownKey()
    if (before.revokedAt) return before
    const [apiKey] = await entry.query<ApiKey>(
      sql`update api_key set revoked_at = ${now} where id = ${id} returning *`,
    )
    tellRevoked(entry, apiKey!, actor, now)
    return apiKey!
  })
}

export function unknownKey(): NotFoundError {
  return new NotFoundError('There is no such key. List the keys to see their ids.')
}

/** Revokes the keys that are bound to a session, when it is archived: whoever holds one was its agent. */
export async function revokeKeysOf(
  entry: JournalEntry,
  sessionId: string,
  actor: Actor,
  at: Date,
): Promise<void> {
  const revoked = await entry.query<ApiKey>(sql`
    update api_key set revoked_at = ${at} where session_id = ${sessionId} and revoked_at is null returning *`)
  for (const key of revoked) tellRevoked(entry, key, actor, at)
}

export function tellRevoked(
  entry: JournalEntry,
  { id, name, role, sessionId }: ApiKey,
  actor: Actor,
  at: Date,
): void {
  entry.append({ type: 'key.revoked', sessionId, actor, data: { keyId: id, name, role }, at })
}

/** The identity behind a key that somebody presents; null for anything unknown, expired or revoked. */
export async function identify(on: Queryable, secret: string, now: Date): Promise<Identity | null> {
  if (secret.length > keyCharactersMax) return null
  const [key] = await on.query<ApiKey>(sql`select * from api_key where prefix = ${prefixOf(secret)}`)
  if (!key || !sameDigest(key.hash, digest(secret)) || !isValid(key, now)) return null
  return identityOf(key)
}

export function identityOf(key: Pick<ApiKey, 'id' | 'name' | 'role' | 'sessionId'>): Identity {
  return { kind: 'api-key', id: key.id, name: key.name, role: key.role, sessionId: key.sessionId }
}

export function isValid(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>, now: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now)
}

const chosenPrefix = 'chosen-'

/** The part of a key that is shown. A key somebody chose shows none of itself. */
function prefixOf(secret: string): string {
  return /^hp_[A-Za-z0-9_-]{8}_/.test(secret)
    ? secret.slice(0, 11)
    : `${chosenPrefix}${digest(secret).slice(0, 12)}`
}

/** Whether somebody chose the key, which only HOLDPOINT_ADMIN_KEY allows. */
export function isChosen({ prefix }: Pick<ApiKey, 'prefix'>): boolean {
  return prefix.startsWith(chosenPrefix)
}

function sameDigest(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}
