import { flushEvery } from '../base/flush-every.ts'
import { listeningMs } from '../base/limits.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { Elicitation } from './elicitation.ts'

export type Listening = 'listening' | 'silent' | 'not_yet'

/** What has become of an answer: whoever asked has it, is waiting for it, or is not there. */
export type Delivery = 'delivered' | 'waiting' | 'no_waiter'

type LastPolled = Pick<Elicitation, 'id' | 'lastPolledAt'>

/**
 * Who listens: when each request was last polled. Kept in memory and written in batches, so that a poll costs no write;
 * a crash loses a few seconds of it.
 */
export interface Presence {
  /** Goes up when an unheld poll comes, and when one is held of a request for which nobody listened here. */
  readonly arrivals: number
  /** A poll that is not held. */
  seen(elicitationId: string): void
  /** A poll begins to be held, or ends: either is a sign of life. */
  opened(elicitationId: string): void
  closed(elicitationId: string): void
  listening(elicitation: LastPolled): Listening
  lastPolledAt(elicitation: LastPolled): Date | null
  flush(): Promise<void>
  stop(): Promise<void>
}

const flushMs = 2_000
/** A poll that stays open is written again this often: other processes see only what is written. */
const openRewriteMs = 15_000
const batchSize = 1_000

export function createPresence(options: {
  database: Database
  now: () => Date
  onError: (error: unknown) => void
}): Presence {
  const { database, now, onError } = options
  const open = new Map<string, { polls: number; writtenAt: number }>()
  let unwritten = new Map<string, Date>()
  /** What this process saw lately, written or not: newer than the row for as long as it matters. */
  const recent = new Map<string, Date>()

  let arrivals = 0

  function heardOf(elicitationId: string): void {
    const at = now()
    unwritten.set(elicitationId, at)
    recent.set(elicitationId, at)
  }

  const isRecent = (at: Date) => now().getTime() - at.getTime() < listeningMs

  function lastPolledAt({ id, lastPolledAt }: LastPolled): Date | null {
    const here = recent.get(id)
    return here && (!lastPolledAt || here > lastPolledAt) ? here : lastPolledAt
  }

  async function flush(): Promise<void> {
    const at = now()
    for (const [id, poll] of open)
      if (at.getTime() - poll.writtenAt >= openRewriteMs) {
        poll.writtenAt = at.getTime()
        unwritten.set(id, at)
      }
    for (const [id, seenAt] of recent)
      if (at.getTime() - seenAt.getTime() > listeningMs && !open.has(id)) recent.delete(id)
    const batch = [...unwritten].sort(([a], [b]) => (a < b ? -1 : 1))
    unwritten = new Map()
    for (let i = 0; i < batch.length; i += batchSize) {
      const rows = batch.slice(i, i + batchSize)
      // A row that is locked is just being answered: waiting for it could mean waiting for each other.
      await database.query(sql`
        with free as (
          select e.id, seen.at
          from unnest(${rows.map(([id]) => id)}::uuid[], ${rows.map(([, seenAt]) => seenAt)}::timestamptz[]) as seen(id, at)
          join elicitation e on e.id = seen.id
          where e.last_polled_at is null or e.last_polled_at < seen.at
          for no key update of e skip locked)
        update elicitation set last_polled_at = free.at from free where elicitation.id = free.id`)
    }
  }

  const stop = flushEvery(flushMs, flush, onError)

  return {
    get arrivals() {
      return arrivals
    },
    seen(id) {
      arrivals++
      heardOf(id)
    },
    opened(id) {
      const last = recent.get(id)
      if (!last || !isRecent(last)) arrivals++
      const poll = open.get(id)
      if (poll) poll.polls++
      else open.set(id, { polls: 1, writtenAt: now().getTime() })
      heardOf(id)
    },
    closed(id) {
      const poll = open.get(id)
      if (poll && --poll.polls === 0) open.delete(id)
      heardOf(id)
    },
    listening(elicitation) {
      if (open.has(elicitation.id)) return 'listening'
      const last = lastPolledAt(elicitation)
      if (!last) return 'not_yet'
      return isRecent(last) ? 'listening' : 'silent'
    },
    lastPolledAt,
    flush,
    stop,
  }
}

/** What has become of the answer to a request that was just answered. */
export function deliveryOf(
  presence: Presence,
  elicitation: LastPolled & Pick<Elicitation, 'deliveredAt'>,
): Delivery {
  if (elicitation.deliveredAt) return 'delivered'
  return presence.listening(elicitation) === 'listening' ? 'waiting' : 'no_waiter'
}
