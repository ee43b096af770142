import { isUuid } from '../base/ids.ts'
import { type InvalidInputError, invalidInput, type NotFoundError } from '../base/refusal.ts'
import type { ApiKey } from '../database/generated/prisma/client.ts'
import { sql } from '../database/sql.ts'
import type { Actor } from '../events/event.ts'
import type { Journal, JournalEntry } from '../events/journal.ts'
import { insertKey, isValid, lockKey, tellRevoked, unknownKey } from './keys.ts'
import { isLauncherKey } from './launcher-key.ts'

export const overlapDefaultMinutes = 24 * 60
export const overlapMinutesMax = 30 * 24 * 60

/**
 * Makes the key that takes another one's place: same name, role and session, and as long a life as that one was given. Both work
 * until the overlap is over; with none, the old one is revoked at once. The secret is returned this once.
 */
export async function rotateKey(
  journal: Journal,
  id: string,
  overlapMinutes: number,
  actor: Actor,
): Promise<{ apiKey: ApiKey; secret: string; replaced: ApiKey } | NotFoundError | InvalidInputError> {
  if (!Number.isInteger(overlapMinutes) || overlapMinutes < 0 || overlapMinutes > overlapMinutesMax)
    return invalidInput('overlapMinutes', `Choose a whole number from 0 to ${overlapMinutesMax} (30 days).`)
  if (!isUuid(id)) return unknownKey()
  const now = journal.now()
  return journal.write(async (entry) => {
    const old = await lockKey(entry, id)
    if (!old) return unknownKey()
    if (!isValid(old, now))
      return invalidInput('id', 'This key was revoked or has expired. Make a new one instead.')
    if (isLauncherKey(old))
      return invalidInput(
        'id',
        'This key is kept in the data folder of a server, for the command line beside it. Revoke it instead: the next start of that server makes another one.',
      )
    if (old.replacedById !== null)
      return invalidInput(
        'id',
        `This key has a successor already, the key ${old.replacedById}. Rotate that one, or revoke this one to end its overlap now.`,
      )
    const { name, role, sessionId, createdAt, expiresAt } = old
    const lifeMs = expiresAt && expiresAt.getTime() - createdAt.getTime()
    const made = await insertKey(
      entry,
      { name, role, sessionId, expiresAt: lifeMs === null ? null : new Date(now.getTime() + lifeMs) },
      actor,
      now,
    )
    const replaced = await replaceKey(entry, old, made.apiKey, overlapMinutes, actor, now)
    return { ...made, replaced }
  })
}

/** Ends a key after an overlap, in favour of another one. */
export async function replaceKey(
  entry: JournalEntry,
  { id, name, role, sessionId }: ApiKey,
  successor: ApiKey,
  overlapMinutes: number,
  actor: Actor,
  at: Date,
): Promise<ApiKey> {
  const until = new Date(at.getTime() + overlapMinutes * 60_000)
  const [replaced] = await entry.query<ApiKey>(sql`
    update api_key set replaced_by_id = ${successor.id}, expires_at = least(expires_at, ${until}),
      revoked_at = ${overlapMinutes === 0 ? at : null}
    where id = ${id} returning *`)
  const expiresAt = replaced!.expiresAt!.toISOString()
  entry.append({
    type: 'key.rotated',
    sessionId,
    actor,
    data: { keyId: id, name, role, successorKeyId: successor.id, expiresAt },
    at,
  })
  if (overlapMinutes === 0) tellRevoked(entry, replaced!, actor, at)
  return replaced!
}
