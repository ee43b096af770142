import { setTimeout as delay } from 'node:timers/promises'
import type { Queryable } from './database.ts'
import { sql } from './sql.ts'

/** Tells any number of waiters that a database which was away answers again, with one question at a time for all of them. */
export interface Recovery {
  /** Settles when the database answers, or when this is stopped; at once when it was never away. */
  answers(): Promise<void>
  stop(): void
}

const askAgainMinMs = 50
const askAgainMaxMs = 1_000

export function createRecovery(database: Queryable): Recovery {
  const stopped = new AbortController()
  let asking: Promise<void> | null = null

  async function ask(): Promise<void> {
    for (let waitMs = askAgainMinMs; !stopped.signal.aborted; waitMs = Math.min(waitMs * 2, askAgainMaxMs)) {
      try {
        await database.query(sql`select 1 as one`)
        return
      } catch {
        // Whatever is wrong has been reported by whoever ran into it.
        await delay(waitMs, undefined, { ref: false, signal: stopped.signal }).catch(() => {})
      }
    }
  }

  return {
    answers() {
      asking ??= ask().finally(() => {
        asking = null
      })
      return asking
    },
    stop() {
      stopped.abort()
    },
  }
}
