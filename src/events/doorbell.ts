import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Database } from '../database/database.ts'
import { sql } from '../database/sql.ts'

const channel = 'holdpoint_timeline'
const reconnectMinMs = 100
const reconnectMaxMs = 5_000
const connectTimeoutMs = 5_000

export interface Doorbell {
  /** Tells the other server processes that something was committed. Rings while one is under way make one more. */
  ring(): void
  stop(): Promise<void>
}

/**
 * LISTEN and NOTIFY between server processes. It only cuts latency: whoever misses a ring looks by itself soon after.
 * NOTIFY stays out of the writing transactions, where it would serialise their commits across the whole database.
 */
export function startDoorbell(options: {
  database: Database
  connectionString: string
  onRing: () => void
  onError: (error: unknown) => void
}): Doorbell {
  const { database, connectionString, onRing, onError } = options
  /** Who rang; its own rings a process need not hear. */
  const self = randomUUID()
  let stopped = false
  let listener: pg.Client | null = null
  let retry: NodeJS.Timeout | undefined
  let delayMs = reconnectMinMs

  async function listen(): Promise<void> {
    const client = new pg.Client({
      connectionString,
      application_name: 'holdpoint doorbell',
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
    })
    listener = client
    const lost = () => {
      if (stopped || listener !== client) return
      listener = null
      client.removeAllListeners('end')
      client.end().catch(() => {})
      retry = setTimeout(connect, delayMs)
      delayMs = Math.min(delayMs * 2, reconnectMaxMs)
    }
    client.on('error', (error) => {
      onError(error)
      lost()
    })
    client.on('end', lost)
    client.on('notification', ({ payload }) => payload !== self && onRing())
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      delayMs = reconnectMinMs
      // What was committed while nobody listened.
      onRing()
    } catch (error) {
      onError(error)
      lost()
    }
  }
  const connect = () => void listen()
  connect()

  let ringing = false
  let again = false
  function ring(): void {
    if (stopped) return
    if (ringing) {
      again = true
      return
    }
    ringing = true
    database
      .query(sql`select pg_notify(${channel}, ${self})::text as rung`)
      .catch(onError)
      .finally(() => {
        ringing = false
        if (again) {
          again = false
          ring()
        }
      })
  }

  return {
    ring,
    async stop() {
      stopped = true
      clearTimeout(retry)
      const client = listener
      listener = null
      await client?.end().catch(() => {})
    },
  }
}
