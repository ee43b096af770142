import { randomBytes } from 'node:crypto'
import { afterAll } from 'vitest'
import { isRefusal } from '../../../src/base/refusal.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { sql } from '../../../src/database/sql.ts'
import { answer } from '../../../src/elicitation/answer.ts'
import type { Elicitation } from '../../../src/elicitation/elicitation.ts'
import { createJournal } from '../../../src/events/journal.ts'
import { startTail, type Tail } from '../../../src/events/tail.ts'
import { type Notifier, startNotifier } from '../../../src/notify/notifier.ts'
import type { Notification } from '../../../src/notify/outbox.ts'
import { openDomain, person, type TestDomain } from '../../support/domain.ts'
import { type Receiver, startReceiver } from './receiver.ts'

export const publicUrl = 'https://holdpoint.example'
export const webhookSecret = `whsec_${randomBytes(24).toString('base64')}`

export interface Server {
  notifier: Notifier
  tail: Tail
  /** Reads on and sends what is due by the clock, to the end. */
  tell(): Promise<void>
  stop(): Promise<void>
}

export interface House extends AsyncDisposable {
  domain: TestDomain
  /** What the webhook goes to. */
  receiver: Receiver
  server: Server
  logLines: string[]
  /** Another server on the same database. */
  startServer(options?: { hasWebhook?: boolean; secret?: string | null }): Promise<Server>
  answer(elicitation: Elicitation): Promise<void>
  /** Moves the clock. */
  pass(ms: number): void
  rows(): Promise<Notification[]>
  events(
    type: string,
  ): Promise<{ data: Record<string, unknown>; sessionId: string | null; elicitationId: string | null }[]>
}

let shared: Promise<TestDomain> | null = null

/** The file's own database, emptied: making another one for each test takes most of a second. */
async function emptyDomain(): Promise<TestDomain> {
  shared ??= openDomain()
  const domain = await shared
  domain.clock.now = new Date('2026-03-01T12:00:00Z')
  await domain.database.query(sql`
    truncate event, elicitation, session, sign_in, api_key, push_subscription, notification, timeline_reader, gate_probe,
      gate_incident restart identity cascade`)
  return domain
}

afterAll(async () => {
  await (await shared)?.[Symbol.asyncDispose]()
})

/** The domain, a webhook's receiver, and servers that notify; the clock stands still until it is moved. */
export async function openHouse(options: { hasWebhook?: boolean } = {}): Promise<House> {
  const domain = await emptyDomain()
  const receiver = await startReceiver()
  const logLines: string[] = []
  const servers: Server[] = []

  async function startServer({
    hasWebhook = true,
    secret = webhookSecret as string | null,
  } = {}): Promise<Server> {
    const database = openDatabase({ connectionString: domain.connectionString, connectionsMax: 6 })
    const journal = createJournal({ database, now: () => domain.clock.now, onCommitted: () => {} })
    const fail = (error: unknown) => logLines.push(String(error))
    const tail = await startTail({ database, onEvent: () => {}, onError: fail, intervalMs: 3_600_000 })
    const notifier = await startNotifier({
      journal,
      position: () => tail.position,
      publicUrl,
      webhook: hasWebhook ? { url: `${receiver.url}/hook`, secret } : null,
      vapidKeys: null,
      pushAddresses: 'any',
      log: { info: () => {}, warn: (...parts: unknown[]) => logLines.push(JSON.stringify(parts)) },
    })
    const server: Server = {
      notifier,
      tail,
      async tell() {
        await tail.caughtUp()
        await notifier.run()
        await notifier.settled()
      },
      async stop() {
        servers.splice(servers.indexOf(server), 1)
        await notifier.stop()
        await tail.stop()
        await database.close()
      },
    }
    servers.push(server)
    return server
  }

  const server = await startServer(options)
  return {
    domain,
    receiver,
    server,
    logLines,
    startServer,
    async answer(elicitation) {
      const result = await answer(domain.desk, elicitation, { action: 'accept', content: {} }, person, {
        surface: 'rest',
        address: null,
      })
      if (isRefusal(result)) throw result
    },
    pass(ms) {
      domain.clock.now = new Date(domain.clock.now.getTime() + ms)
    },
    rows: () =>
      domain.database.query<Notification>(sql`select * from notification order by event_cursor, id`),
    events: (type) =>
      domain.database.query(
        sql`select data, session_id, elicitation_id from event where type = ${type} order by cursor`,
      ),
    async [Symbol.asyncDispose]() {
      for (const each of [...servers]) await each.stop()
      await receiver[Symbol.asyncDispose]()
    },
  }
}
