import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'

/**
 * Writes blocked sessions, each with one pending request that ends at `expiresAt`, in a statement or two: what thousands of
 * agents would have left.
 */
export async function writeBlockedSessions(
  database: Database,
  { sessions, createdAt, expiresAt }: { sessions: number; createdAt: Date; expiresAt: Date },
): Promise<void> {
  await database.query(sql`
    insert into session (id, slug, title, status, blocked_on_elicitation, needs_input_since, created_at, updated_at)
    select id, 'many-' || id, 'One of many', 'needs_input', true, ${createdAt}, ${createdAt}, ${createdAt}
    from (select gen_random_uuid() as id from generate_series(1, ${sessions})) ids`)
  await database.query(sql`
    insert into elicitation (id, request_id, session_id, message, tool_name, expires_at, created_at)
    select gen_random_uuid(), gen_random_uuid()::text, s.id, 'Delete the tenant acme?', 'delete_tenant', ${expiresAt}, ${createdAt}
    from session s where not exists (select 1 from elicitation e where e.session_id = s.id)`)
}
