import type { Queryable } from '../database/database.ts'
import { readTogether } from '../database/read-together.ts'
import { sql } from '../database/sql.ts'

/**
 * Tells whether anything was committed, by any process, since it was asked before: as long as the number stays, so does
 * everything whose changes have an event. It is that of some moment after the call; null when too much is under way to count.
 * Calls that come while a statement is under way share the next one.
 */
export type TimelineVersion = () => Promise<bigint | null>

/** More events than this beyond the tail are not counted: it is far behind, and nothing stays the same for long. */
const uncountedMax = 1_000
/** There is but one. */
const timeline = 'timeline'

/**
 * The tail has seen all that there will ever be up to its position. What is visible beyond it only grows, whichever gaps
 * it still has. So position and count together never go down, and go up with every commit.
 */
export function createTimelineVersion(database: Queryable, position: () => bigint): TimelineVersion {
  const read = readTogether(async () => {
    const from = position()
    const [row] = await database.query<{ beyond: bigint }>(sql`
      select count(*) as beyond from (select from event where cursor > ${from} limit ${uncountedMax}) as beyond`)
    const { beyond } = row!
    return new Map(beyond < uncountedMax ? [[timeline, from + beyond]] : [])
  })
  return () => read(timeline)
}
