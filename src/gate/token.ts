import { digest, newId, newToken } from '../base/ids.ts'
import type { Queryable } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { Actor } from '../events/event.ts'
import type { JournalEntry } from '../events/journal.ts'

/** A capability address: its token decides the session, and says which server asks where it was written for one. */
export interface GateToken {
  id: string
  sessionId: string
  serverName: string | null
  /** An ended token creates nothing more, but still polls what it created. */
  endedAt: Date | null
}

/** Makes a token for a session, and for one server of it where that is known. It is returned this once; only its hash is kept. */
export async function mintGateToken(
  entry: JournalEntry,
  token: { sessionId: string; serverName: string | null },
  actor: Actor,
  at: Date,
): Promise<string> {
  const secret = newToken(24)
  const id = newId()
  await entry.query(sql`
    insert into gate_token (id, token_hash, session_id, server_name, created_at)
    values (${id}, ${digest(secret)}, ${token.sessionId}, ${token.serverName}, ${at})`)
  entry.append({
    type: 'gate.token_created',
    sessionId: token.sessionId,
    actor,
    data: { tokenId: id, serverName: token.serverName },
    at,
  })
  return secret
}

export async function findGateToken(on: Queryable, secret: string): Promise<GateToken | null> {
  const [row] = await on.query<GateToken>(sql`
    select id, session_id, server_name, ended_at from gate_token where token_hash = ${digest(secret)}`)
  return row ?? null
}

/** Ends all living tokens of a session: at its archive, or when they are rotated. */
export async function endGateTokens(
  entry: JournalEntry,
  sessionId: string,
  actor: Actor,
  at: Date,
): Promise<number> {
  const ended = await entry.query<{ id: string }>(sql`
    update gate_token set ended_at = ${at} where session_id = ${sessionId} and ended_at is null returning id`)
  if (ended.length > 0)
    entry.append({
      type: 'gate.token_ended',
      sessionId,
      actor,
      data: { tokenIds: ended.map(({ id }) => id) },
      at,
    })
  return ended.length
}
