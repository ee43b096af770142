import type { Elicitation, Session } from '../database/generated/prisma/client.ts'
import { sql } from '../database/sql.ts'
import { related } from './related.ts'

/** The session that an event or a request belongs to. Where the type's own plan has read it already, this is not asked. */
export const sessionOf = related(async ({ services }, owned: { sessionId: string | null }[]) => {
  const ids = [...new Set(owned.flatMap(({ sessionId }) => sessionId ?? []))]
  const rows = await services.journal.database.query<Session>(
    sql`select * from session where id = any(${ids}::uuid[])`,
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return owned.map(({ sessionId }) => byId.get(sessionId ?? '') ?? null)
})

/** The request that an event is about. */
export const elicitationOf = related(async ({ services }, events: { elicitationId: string | null }[]) => {
  const ids = [...new Set(events.flatMap(({ elicitationId }) => elicitationId ?? []))]
  const rows = await services.journal.database.query<Elicitation>(
    sql`select * from elicitation where id = any(${ids}::uuid[])`,
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return events.map(({ elicitationId }) => byId.get(elicitationId ?? '') ?? null)
})
