import type { Database, Queryable } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { NewEvent } from './event.ts'

/** A transaction that also writes the timeline: what is appended commits with the change, or not at all. */
export interface JournalEntry extends Queryable {
  append(event: NewEvent): void
}

export interface Journal {
  readonly database: Database
  /** The clock of every deadline and every date in it. */
  now(): Date
  write<T>(work: (entry: JournalEntry) => Promise<T>): Promise<T>
}

/**
 * The advisory lock that every transaction takes, shared, before it draws a cursor. It excludes nobody: it makes visible
 * who may still commit a lower cursor (see tail.ts).
 */
export const writersLock = { class: 0x484f4c44, object: 1 }

export function createJournal(options: {
  database: Database
  now?: () => Date
  onCommitted: (events: NewEvent[]) => void
}): Journal {
  const { database, now = () => new Date(), onCommitted } = options
  return {
    database,
    now,
    async write(work) {
      const events: NewEvent[] = []
      const result = await database.transaction(async (tx) => {
        const value = await work({
          query: (statement) => tx.query(statement),
          append: (event) => events.push(event),
        })
        if (events.length > 0) insertEvents(tx, events)
        return value
      })
      if (events.length > 0) onCommitted(events)
      return result
    },
  }
}

/** Goes out with the commit. */
function insertEvents(tx: Queryable, events: NewEvent[]): void {
  void tx.query(sql`
    with writer as materialized (select pg_advisory_xact_lock_shared(${writersLock.class}, ${writersLock.object}) as held)
    insert into event (type, session_id, elicitation_id, actor_kind, actor_name, actor_role, data, attention, at)
    select e.type, e.session_id, e.elicitation_id, e.actor_kind, e.actor_name, e.actor_role, e.data, e.attention, e.at
    from writer, json_to_recordset(${JSON.stringify(events.map(rowOf))}) as e(place int, type text, session_id uuid,
      elicitation_id uuid, actor_kind text, actor_name text, actor_role role, data json, attention attention, at timestamptz)
    order by e.place`)
}

function rowOf(event: NewEvent, place: number) {
  const { type, sessionId, elicitationId, actor, data = {}, attention, at } = event
  return {
    place,
    type,
    session_id: sessionId,
    elicitation_id: elicitationId,
    actor_kind: actor.kind,
    actor_name: actor.name,
    actor_role: actor.role,
    data,
    attention,
    at,
  }
}
