import { sql } from '../database/sql.ts'
import type { Journal } from '../events/journal.ts'
import type { Elicitation } from './elicitation.ts'

/** The active requests, of one session or of all: soonest deadline first, and how many there are in all. */
export async function listPending(
  { database, now }: Journal,
  { sessionId, limit }: { sessionId: string | null; limit: number },
): Promise<{ elicitations: Elicitation[]; totalCount: number }> {
  const rows = await database.query<Elicitation & { totalCount: number }>(sql`
    select *, (count(*) over ())::int as total_count from elicitation
    where status = 'pending' and expires_at > ${now()} and (${sessionId}::uuid is null or session_id = ${sessionId})
    order by expires_at, id limit ${limit}`)
  return { elicitations: rows.map(({ totalCount: _, ...row }) => row), totalCount: rows[0]?.totalCount ?? 0 }
}
