import { digest } from '../base/ids.ts'
import type { ApiKey } from '../database/generated/prisma/client.ts'
import { sql } from '../database/sql.ts'
import { systemActor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import { insertKey, isChosen, isValid } from './keys.ts'
import { overlapDefaultMinutes, replaceKey } from './succession.ts'

export interface FirstKey {
  /** The key that sign-in links are worth; null when every admin key was revoked. */
  adminKeyId: string | null
  /** A key that was just made up, to be shown this once. */
  secret: string | null
  /** What is wrong with the configured key; null when nothing is. */
  warning: string | null
}

/**
 * Sees to it that there is an admin key: the configured one, or on the first start one that is made up. A configured key that
 * was revoked stays revoked, and keeps no server from starting. When another key is configured, the configured ones before
 * it expire after an overlap, in which every server and every script can be given the new one.
 */
export async function ensureAdminKey(journal: Journal, chosen: string | null): Promise<FirstKey> {
  const now = journal.now()
  return journal.write(async (entry) => {
    // Several processes may start on an empty database at once; one of them makes the key.
    await entry.query(sql`lock table api_key in share row exclusive mode`)
    // Those that last come first.
    const admins = await entry.query<ApiKey>(sql`
      select * from api_key where role = 'admin' and session_id is null order by expires_at desc nulls first, created_at`)
    const first = admins.find((key) => isValid(key, now))?.id ?? null
    if (chosen === null && admins.length > 0) return { adminKeyId: first, secret: null, warning: null }
    const [known] =
      chosen === null
        ? []
        : await entry.query<ApiKey>(sql`select * from api_key where hash = ${digest(chosen)}`)
    if (known && !(isValid(known, now) && admins.some(({ id }) => id === known.id)))
      return {
        adminKeyId: first,
        secret: null,
        warning:
          'HOLDPOINT_ADMIN_KEY holds a key that was revoked, has expired or is no admin key: it does not become one. Set another, or unset it.',
      }
    if (known?.replacedById)
      return {
        adminKeyId: known.id,
        secret: null,
        warning: `HOLDPOINT_ADMIN_KEY holds a key that has a successor and works until ${known.expiresAt!.toISOString()}. Set the new one here too.`,
      }
    const made = known
      ? { apiKey: known, secret: null }
      : await insertKey(
          entry,
          { name: 'admin', role: 'admin', secret: chosen ?? undefined },
          systemActor,
          now,
        )
    if (chosen === null) return { adminKeyId: made.apiKey.id, secret: made.secret, warning: null }
    const replaced: ApiKey[] = []
    for (const key of admins)
      if (
        isValid(key, now) &&
        key.replacedById === null &&
        isChosen(key) &&
        key.createdAt < made.apiKey.createdAt
      )
        replaced.push(await replaceKey(entry, key, made.apiKey, overlapDefaultMinutes, systemActor, now))
    return {
      adminKeyId: made.apiKey.id,
      secret: null,
      warning:
        replaced.length === 0
          ? null
          : `HOLDPOINT_ADMIN_KEY has changed. What it held before goes on working: ${replaced
              .map(
                ({ id, prefix, expiresAt }) => `the key ${prefix} (${id}) until ${expiresAt!.toISOString()}`,
              )
              .join(', ')}. Revoke it to end that now.`,
    }
  })
}
