import { beforeAllIds } from '../base/ids.ts'
import { sql } from '../database/sql.ts'
import { type Actor, sweepActor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import { lockSessions, saveSessions } from '../session/under-lock.ts'

const batchSize = 200

/**
 * Finds sessions that are blocked on nothing: the unblock was missed, or the agent or its MCP server died. Looks again
 * under the lock, as a request may have arrived meanwhile.
 * @returns the ids of the sessions that it took the marker off.
 */
export async function sweepStranded(
  journal: Journal,
  stopping?: AbortSignal,
  actor: Actor = sweepActor,
): Promise<string[]> {
  const stranded: string[] = []
  let after = beforeAllIds
  while (!stopping?.aborted) {
    const found = await journal.database.query<{ id: string }>(sql`
      select id from session s where blocked_on_elicitation and status in ('needs_input', 'running') and id > ${after}
        and not exists (select 1 from elicitation e
          where e.session_id = s.id and e.status = 'pending' and e.expires_at > ${journal.now()})
      order by id limit ${batchSize}`)
    if (found.length === 0) break
    after = found.at(-1)!.id
    await journal.write(async (entry) => {
      const ids = found.map(({ id }) => id)
      const sessions = await lockSessions(journal, entry, ids)
      const latest = new Map(
        (
          await entry.query<{
            sessionId: string
            requestId: string
            toolName: string | null
            message: string
          }>(sql`
            select s.id as session_id, e.request_id, e.tool_name, e.message from unnest(${ids}::uuid[]) as s(id)
            cross join lateral (select request_id, tool_name, left(message, 1000) as message from elicitation
              where session_id = s.id order by id desc limit 1) e`)
        ).map((row) => [row.sessionId, row]),
      )
      for (const session of sessions) {
        // What is only overdue ends as expired, and its session goes on running: its agent was told.
        session.expireOverdue()
        if (session.strand(latest.get(session.row.id) ?? null, actor)) stranded.push(session.row.id)
      }
      saveSessions(entry, sessions)
    })
  }
  return stranded
}
