import { isUuid } from '../base/ids.ts'
import type { Session } from '../database/generated/prisma/client.ts'
import type { Journal } from '../events/journal.ts'

/**
 * Who needs a person: every session in needs_input, and any other that is not archived and has an active elicitation.
 * Soonest deadline first, then who has waited longest. Pages, counts and titles all come from this one definition;
 * it reads what is pending and what is in needs_input, however many other sessions there are.
 *
 * $1 is now, $2 a session to narrow it to, or null.
 */
const queue = `
  with active as (
    select session_id, min(expires_at) as deadline from elicitation
    where status = 'pending' and expires_at > $1 group by session_id
  ), queue as (
    select s.id, coalesce(a.deadline, 'infinity') as deadline, coalesce(s.needs_input_since, 'infinity') as since
    from session s left join active a on a.session_id = s.id
    where s.status = 'needs_input' and ($2::uuid is null or s.id = $2)
    union all
    select s.id, a.deadline, coalesce(s.needs_input_since, 'infinity')
    from active a join session s on s.id = a.session_id
    where s.status not in ('needs_input', 'archived') and ($2::uuid is null or s.id = $2)
  )`

/** Where a session stands in the queue; `place` is what the next page begins after. */
export interface Queued {
  session: Session
  place: string
}

interface Place {
  deadline: Date | null
  since: Date | null
  id: string
}

export async function attentionQueuePage(
  { database, now }: Journal,
  { after, limit, sessionId = null }: { after: Place | null; limit: number; sessionId?: string | null },
): Promise<Queued[]> {
  const rows = await database.query<Session & { deadline: Date | null; since: Date | null }>({
    name: 'attention-queue-page',
    text: `${queue}
      select s.*, nullif(q.deadline, 'infinity') as deadline, nullif(q.since, 'infinity') as since
      from queue q join session s on s.id = q.id
      where $3::uuid is null
        or (q.deadline, q.since, q.id) > (coalesce($4::timestamptz, 'infinity'), coalesce($5::timestamptz, 'infinity'), $3)
      order by q.deadline, q.since, q.id limit $6`,
    values: [now(), sessionId, after?.id ?? null, after?.deadline ?? null, after?.since ?? null, limit],
  })
  return rows.map(({ deadline, since, ...session }) => ({
    session,
    place: placeText({ deadline, since, id: session.id }),
  }))
}

export async function attentionQueueSize(
  { database, now }: Journal,
  sessionId: string | null = null,
): Promise<number> {
  const [row] = await database.query<{ size: number }>({
    name: 'attention-queue-size',
    text: `${queue} select count(*)::int as size from queue`,
    values: [now(), sessionId],
  })
  return row!.size
}

const placeText = ({ deadline, since, id }: Place) =>
  `${deadline?.getTime() ?? ''}_${since?.getTime() ?? ''}_${id}`

/** Reads a place again; null for anything else. */
export function parsePlace(text: string): Place | null {
  const [, deadline, since, id] = /^(\d{1,14})?_(\d{1,14})?_(.+)$/.exec(text) ?? []
  if (id === undefined || !isUuid(id)) return null
  const dateOf = (ms: string | undefined) => (ms === undefined ? null : new Date(Number(ms)))
  return { deadline: dateOf(deadline), since: dateOf(since), id }
}
