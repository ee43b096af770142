import type { Elicitation, Event, Session } from '../../database/generated/prisma/client.ts'
import { sql } from '../../database/sql.ts'
import { pageSizeMax } from '../builder.ts'
import type { Slice } from '../connection.ts'
import { related } from '../related.ts'
import { sessionOf } from '../rows.ts'

type Owned = { sessionId: string | null }

function grouped<Row extends Owned>(sessions: Session[], rows: Row[]): Row[][] {
  const byId = new Map(sessions.map((session) => [session.id, session]))
  for (const row of rows) sessionOf.know(row, byId.get(row.sessionId ?? '') ?? null)
  const bySession = Map.groupBy(rows, ({ sessionId }) => sessionId)
  return sessions.map(({ id }) => bySession.get(id) ?? [])
}

const idsOf = (sessions: Session[]) => [...new Set(sessions.map(({ id }) => id))]

/** The active requests of a session, oldest first. */
export const pendingOf = related(async ({ services }, sessions: Session[]) =>
  grouped(
    sessions,
    await services.journal.database.query<Elicitation>(sql`
      select e.* from unnest(${idsOf(sessions)}::uuid[]) as s(id) cross join lateral (
        select * from elicitation
        where session_id = s.id and status = 'pending' and expires_at > ${services.journal.now()}
        order by id limit ${pageSizeMax}) e`),
  ),
)

/** A page of each session's requests, newest first. */
export const elicitationsOf = related(async ({ services }, sessions: Session[], slice: Slice<string>) => {
  const { after, before, backward, limit } = slice
  const ids = idsOf(sessions)
  const statement = backward
    ? sql`select e.* from unnest(${ids}::uuid[]) as s(id) cross join lateral (
        select * from elicitation where session_id = s.id
          and (${after}::uuid is null or id < ${after}) and (${before}::uuid is null or id > ${before})
        order by id limit ${limit}) e`
    : sql`select e.* from unnest(${ids}::uuid[]) as s(id) cross join lateral (
        select * from elicitation where session_id = s.id
          and (${after}::uuid is null or id < ${after}) and (${before}::uuid is null or id > ${before})
        order by id desc limit ${limit}) e`
  return grouped(sessions, await services.journal.database.query<Elicitation>(statement))
})

/** A page of each session's events, oldest first. */
export const eventsOf = related(async ({ services }, sessions: Session[], slice: Slice<string>) => {
  const { after, before, backward, limit } = slice
  const ids = idsOf(sessions)
  const statement = backward
    ? sql`select e.* from unnest(${ids}::uuid[]) as s(id) cross join lateral (
        select * from event where session_id = s.id
          and (${after}::bigint is null or cursor > ${after}) and (${before}::bigint is null or cursor < ${before})
        order by cursor desc limit ${limit}) e`
    : sql`select e.* from unnest(${ids}::uuid[]) as s(id) cross join lateral (
        select * from event where session_id = s.id
          and (${after}::bigint is null or cursor > ${after}) and (${before}::bigint is null or cursor < ${before})
        order by cursor limit ${limit}) e`
  return grouped(sessions, await services.journal.database.query<Event>(statement))
})

function counts(sessions: Session[], rows: { sessionId: string; count: bigint }[]): number[] {
  const bySession = new Map(rows.map(({ sessionId, count }) => [sessionId, Number(count)]))
  return sessions.map(({ id }) => bySession.get(id) ?? 0)
}

export const countElicitationsOf = related(async ({ services }, sessions: Session[]) =>
  counts(
    sessions,
    await services.journal.database.query(sql`
      select session_id, count(*) as count from elicitation where session_id = any(${idsOf(sessions)}::uuid[])
      group by session_id`),
  ),
)

export const countEventsOf = related(async ({ services }, sessions: Session[]) =>
  counts(
    sessions,
    await services.journal.database.query(sql`
      select session_id, count(*) as count from event where session_id = any(${idsOf(sessions)}::uuid[])
      group by session_id`),
  ),
)
