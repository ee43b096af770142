import { type NotFoundError, unknownSession } from '../base/refusal.ts'
import type { Session } from '../database/generated/prisma/client.ts'
import { sql } from '../database/sql.ts'
import type { Journal, JournalEntry } from '../events/journal.ts'
import { LockedSession, type PendingElicitation } from './locked-session.ts'

/**
 * Does `work` on one session while its row is locked, and commits the changes with their events. What is past its
 * deadline has been expired before `work` runs, so that inside "pending" and "active" are the same thing.
 */
export async function underLock<T>(
  journal: Journal,
  sessionId: string,
  work: (session: LockedSession, entry: JournalEntry) => Promise<T>,
): Promise<T | NotFoundError> {
  return journal.write(async (entry) => {
    const [session] = await lockSessions(journal, entry, [sessionId])
    if (!session) return unknownSession()
    session.expireOverdue()
    const result = await work(session, entry)
    saveSessions(entry, [session])
    return result
  })
}

/**
 * Locks the rows in the order of their ids, so that two callers never wait for each other, and reads what is pending
 * in a second statement: the first one's snapshot may be older than the lock.
 */
export async function lockSessions(
  journal: Journal,
  entry: JournalEntry,
  ids: string[],
): Promise<LockedSession[]> {
  const [rows, pending] = await Promise.all([
    entry.query<Session>(sql`select * from session where id = any(${ids}::uuid[]) order by id for update`),
    entry.query<PendingElicitation>(sql`
      select id, session_id, request_id, tool_name, left(message, 1000) as message, expires_at, gate_token_id, caller_address
      from elicitation where session_id = any(${ids}::uuid[]) and status = 'pending'`),
  ])
  const now = journal.now()
  // Here, as an index that has this order would read what other sessions wait for.
  pending.sort((a, b) => (a.id < b.id ? -1 : 1))
  const bySession = Map.groupBy(pending, (each) => each.sessionId)
  return rows.map((row) => new LockedSession(row, bySession.get(row.id) ?? [], now))
}

/**
 * Writes what changed: at most one statement for the elicitations and one for the sessions, however many. They go out with
 * the timeline and the commit. The ids come a second time as an array, because PostgreSQL takes any JSON for a hundred rows
 * and would rather read a table of some thousand sessions than look each of them up.
 */
export function saveSessions(entry: JournalEntry, sessions: LockedSession[]): void {
  const resolutions = sessions.flatMap((session) =>
    [...session.resolved].map(([id, { status, cause, content, note, surface, actor }]) => ({
      id,
      status,
      cause,
      content,
      note,
      at: session.now,
      name: surface === null ? null : (actor.name ?? actor.kind),
      surface,
      actor: actor.id,
    })),
  )
  if (resolutions.length > 0) {
    // Nobody waits for its result, so it fails by itself where one was not pending any more: a change without the lock.
    void entry.query(sql`
      with written as (
        update elicitation set status = r.status, cause = r.cause, content = r.content, note = r.note,
          responded_at = r.at, responded_by_name = r.name, responded_by_surface = r.surface, responded_by_actor = r.actor
        from json_to_recordset(${JSON.stringify(resolutions)}) as r(id uuid, status elicitation_status, cause cause, content json,
          note text, at timestamptz, name text, surface text, actor text)
        where elicitation.id = r.id and elicitation.id = any(${resolutions.map(({ id }) => id)}::uuid[]) and elicitation.status = 'pending'
        returning elicitation.id)
      select 1 / (count(*) = ${resolutions.length})::int as pending from written`)
  }
  // The row is what commands return: it says what was written.
  for (const session of sessions) if (session.changed) session.row.updatedAt = session.now
  const rows = sessions.filter((session) => session.changed).map(({ row }) => changeable(row))
  if (rows.length > 0)
    void entry.query(sql`
      update session set status = r.status, blocked_on_elicitation = r.blocked, archived_from = r.archived_from,
        lost_reason = r.lost_reason, lost_at = r.lost_at, lost_request_id = r.lost_request_id, lost_summary = r.lost_summary,
        needs_input_since = r.needs_input_since, failure_reason = r.failure_reason, updated_at = r.updated_at
      from json_to_recordset(${JSON.stringify(rows)}) as r(id uuid, status session_status, blocked boolean,
        archived_from session_status, lost_reason lost_reason, lost_at timestamptz, lost_request_id text, lost_summary text,
        needs_input_since timestamptz, failure_reason text, updated_at timestamptz)
      where session.id = r.id and session.id = any(${rows.map(({ id }) => id)}::uuid[])`)
  for (const session of sessions) for (const event of session.close()) entry.append(event)
}

/** What a command can change of a session, by the names of the statement above. */
function changeable(row: Session) {
  return {
    id: row.id,
    status: row.status,
    blocked: row.blockedOnElicitation,
    archived_from: row.archivedFrom,
    lost_reason: row.lostReason,
    lost_at: row.lostAt,
    lost_request_id: row.lostRequestId,
    lost_summary: row.lostSummary,
    needs_input_since: row.needsInputSince,
    failure_reason: row.failureReason,
    updated_at: row.updatedAt,
  }
}
