import { sql } from '../database/sql.ts'
import type { Journal } from '../events/journal.ts'
import { lockSessions, saveSessions, underLock } from '../session/under-lock.ts'

const requestsPerBatch = 1_000
/** Batches are split by session among so many connections: their locks do not meet. */
const hands = 2

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
    const ids = due.map(({ sessionId }) => sessionId)
    const share = Math.ceil(ids.length / hands)
    const counts = await Promise.all(
      Array.from({ length: hands }, (_, i) => expireIn(journal, ids.slice(i * share, (i + 1) * share))),
    )
    const count = counts.reduce((sum, each) => sum + each)
    // Somebody else expired them while this waited for their locks, and goes on with the rest.
    if (count === 0) break
    expired += count
  }
  return expired
}

function expireIn(journal: Journal, sessionIds: string[]): Promise<number> {
  return journal.write(async (entry) => {
    const sessions = await lockSessions(journal, entry, sessionIds)
    for (const session of sessions) session.expireOverdue()
    saveSessions(entry, sessions)
    return sessions.reduce((sum, session) => sum + session.resolved.size, 0)
  })
}

/** The next deadline that is still ahead of anything pending, or null. */
export async function nextDeadline(journal: Journal): Promise<Date | null> {
  const [row] = await journal.database.query<{ next: Date | null }>(
    sql`select min(expires_at) as next from elicitation where status = 'pending' and expires_at > ${journal.now()}`,
  )
  return row?.next ?? null
}
