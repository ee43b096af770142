import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'

/** Settles once `count` connections of this database wait for a lock that somebody else holds. */
export async function untilBlocked(database: Database, count = 1): Promise<void> {
  for (const until = performance.now() + 10_000; performance.now() < until; await delay(5)) {
    const [row] = await database.query<{ waiting: bigint }>(sql`
      select count(*) as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
    if (row!.waiting >= count) return
  }
  throw new Error('nobody waited for a lock')
}
