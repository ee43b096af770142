import type { Queryable } from '../database/database.ts'
import { readTogether } from '../database/read-together.ts'
import { sql } from '../database/sql.ts'
import type { Elicitation } from './elicitation.ts'

/** What a poll needs to know of a request. */
export type Polled = Pick<
  Elicitation,
  | 'id'
  | 'requestId'
  | 'sessionId'
  | 'status'
  | 'content'
  | 'note'
  | 'expiresAt'
  | 'respondedAt'
  | 'deliveredAt'
  | 'serverName'
  | 'cause'
  | 'gateTokenId'
>

/** Reads requests for polls. */
export interface PolledReader {
  /** The request as it is in the database at some moment after the call; null when there is none. */
  read(requestId: string): Promise<Polled | null>
}

const knownMax = 20_000

/**
 * Polls are read together. What this process knows to be pending is not read again: only whether it still is, so that a poll of
 * it usually costs a place in a list and no row. The database is asked every time, so that it does not matter which process
 * an answer came to.
 */
export function createPolledReader(database: Queryable): PolledReader {
  const known = new Map<string, Polled>()

  async function rowsOf(requestIds: string[]): Promise<Map<string, Polled>> {
    const before = requestIds.map((requestId) => known.get(requestId))
    const rows = await database.query<Polled>(sql`
      select e.id, e.request_id, e.session_id, e.status, e.content, e.note, e.expires_at, e.responded_at, e.delivered_at,
        e.server_name, e.cause, e.gate_token_id
      from unnest(${requestIds}::text[], ${before.map(Boolean)}::boolean[]) as asked(request_id, is_known)
      join elicitation e on e.request_id = asked.request_id
      where e.status <> 'pending' or not asked.is_known`)
    for (const row of rows) remember(row)
    // What did not come is as it was.
    return new Map([...before.filter((row) => row !== undefined), ...rows].map((row) => [row.requestId, row]))
  }

  function remember(row: Polled): void {
    known.delete(row.requestId)
    if (row.status !== 'pending') return
    known.set(row.requestId, row)
    if (known.size > knownMax) known.delete(known.keys().next().value!)
  }

  return { read: readTogether(rowsOf) }
}
