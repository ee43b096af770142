import { sql } from '../database/sql.ts'
import type { Journal } from '../events/journal.ts'
import { lockSessions, saveSessions, underLock } from '../session/under-lock.ts'

const requestsPerBatch = 500

/** Expires what is due in one session. */
export async function expireDueIn(journal: Journal, sessionId: string): Promise<void> {
  await underLock(journal, sessionId, async () => null)
}

/**
 * Expires everything that is due, a few statements for some hundred requests at a time. Safe beside any other writer and
 * beside itself: it works under the same locks as an answer.
 * @returns how many requests it expired.
 */
export async function expireDue(journal: Journal, stopping?: AbortSignal): Promise<number> {
  let expired = 0
  while (!stopping?.aborted) {
    const due = await journal.database.query<{ sessionId: string }>(sql`
      select distinct session_id from (
        select session_id from elicitation where status = 'pending' and expires_at <= ${journal.now()}
        order by expires_at limit ${requestsPerBatch}) due`)
    if (due.length === 0) break
    const count = await journal.write(async (entry) => {
      const ids = due.map(({ sessionId }) => sessionId)
      const sessions = await lockSessions(journal, entry, ids)
      for (const session of sessions) session.expireOverdue()
      await saveSessions(entry, sessions)
      return sessions.reduce((sum, session) => sum + session.resolved.size, 0)
    })
    // Somebody else expired them while this waited for their locks, and goes on with the rest.
    if (count === 0) break
    expired += count
  }
  return expired
}

/** The next deadline that is still ahead of anything pending, or null. */
export async function nextDeadline(journal: Journal): Promise<Date | null> {
  const [row] = await journal.database.query<{ next: Date | null }>(
    sql`select min(expires_at) as next from elicitation where status = 'pending' and expires_at > ${journal.now()}`,
  )
  return row?.next ?? null
}
