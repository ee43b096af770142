import type { Queryable } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { TimelineEvent } from './event.ts'
import { writersLock } from './journal.ts'

export interface TailOptions {
  database: Queryable
  /** Called once for each event of the database, in cursor order, from wherever it was written. */
  onEvent: (event: TimelineEvent) => void
  onError: (error: unknown) => void
  /** How often to look without being rung: a lost ring costs this much time and nothing else. */
  intervalMs?: number
}

export interface Tail {
  /** Everything up to here has been handed out; nothing at or before it will appear any more. */
  readonly position: bigint
  /** Asks for a look soon; any number of rings while one is under way make one more. */
  ring(): void
  /** Settles once everything that was committed before the call has been handed out. */
  caughtUp(): Promise<void>
  stop(): Promise<void>
}

const pageSize = 500
const gapWaitMinMs = 2
const gapWaitMaxMs = 100

/**
 * Reads the timeline in order, once a process, from the present on.
 *
 * Cursors come from a sequence, so a lower one may commit after a higher one. When a number is missing, the transactions
 * that hold the writers' lock at that moment are the only ones that can still bring it: they took the lock before they
 * drew their number. Once these have ended, whatever is still missing never comes (it was rolled back). So the reader
 * waits for nobody but a writer of this very table, however long other transactions on the server run.
 */
export async function startTail({
  database,
  onEvent,
  onError,
  intervalMs = 1_000,
}: TailOptions): Promise<Tail> {
  const [row] = await database.query<{ position: bigint | null }>(
    sql`select max(cursor) as position from event`,
  )
  let position = row?.position ?? 0n
  await untilWritersEnd()

  let settledThrough = position
  let looking: Promise<void> | null = null
  let again = false
  let stopped = false

  async function look(): Promise<void> {
    for (;;) {
      const rows = await database.query<TimelineEvent>(sql`
        select cursor, type, session_id, elicitation_id, actor_kind, actor_name, actor_role, data, attention, at
        from event where cursor > ${position} order by cursor limit ${pageSize}`)
      let gap = false
      for (const event of rows) {
        if (event.cursor !== position + 1n && event.cursor - 1n > settledThrough) {
          gap = true
          break
        }
        position = event.cursor
        onEvent(event)
      }
      if (gap) {
        const through = rows.at(-1)!.cursor
        await untilWritersEnd()
        settledThrough = through
      } else if (rows.length < pageSize) return
      if (stopped) return
    }
  }

  async function untilWritersEnd(): Promise<void> {
    const writers = async () => {
      const rows = await database.query<{ writer: string }>(sql`
        select virtualtransaction as writer from pg_locks
        where locktype = 'advisory' and classid = ${writersLock.class} and objid = ${writersLock.object} and objsubid = 2
          and database = (select oid from pg_database where datname = current_database())`)
      return new Set(rows.map((each) => each.writer))
    }
    const before = await writers()
    for (let waitMs = gapWaitMinMs; before.size > 0; waitMs = Math.min(waitMs * 2, gapWaitMaxMs)) {
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      const now = await writers()
      for (const writer of before) if (!now.has(writer)) before.delete(writer)
    }
  }

  function ring(): void {
    if (stopped) return
    if (looking) {
      again = true
      return
    }
    looking = (async () => {
      do {
        again = false
        await look()
      } while (again && !stopped)
    })()
      .catch(onError)
      .finally(() => {
        looking = null
        if (again) ring()
      })
  }

  const timer = setInterval(ring, intervalMs)
  ring()
  return {
    get position() {
      return position
    },
    ring,
    async caughtUp() {
      ring()
      while (looking) await looking
    },
    async stop() {
      stopped = true
      clearInterval(timer)
      await looking
    },
  }
}
