import type { Queryable } from '../database/database.ts'
import { sql } from '../database/sql.ts'

/**
 * How many living sessions still ask on the plain address: those whose latest request from an MCP server came in there.
 * None is left when every agent has been launched anew, and the plain address can be closed.
 */
export async function countSessionsOnPlainAddress(on: Queryable): Promise<number> {
  // What came in with a key was asked by the agent itself, on no address of the gate.
  const [row] = await on.query<{ count: bigint }>(sql`
    select count(*) as count from session s cross join lateral (
      select gate_token_id from elicitation
      where session_id = s.id and (caller_address is null or caller_address not like 'key:%')
      order by id desc limit 1) latest
    where s.status in ('running', 'needs_input') and latest.gate_token_id is null`)
  return Number(row!.count)
}
