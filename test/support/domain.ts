import type { Identity } from '../../src/auth/identity.ts'
import { defaultLimits } from '../../src/base/limits.ts'
import { isRefusal, type Refusal } from '../../src/base/refusal.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import type { Session } from '../../src/database/generated/prisma/client.ts'
import { sql } from '../../src/database/sql.ts'
import { type Asked, ask, type Question, type Source } from '../../src/elicitation/ask.ts'
import { createRequests, type Desk } from '../../src/elicitation/elicitation.ts'
import { type Actor, systemActor } from '../../src/events/event.ts'
import { createJournal, type Journal } from '../../src/events/journal.ts'
import { createSession } from '../../src/session/commands.ts'
import { requestId } from './ask.ts'
import { createTestDatabase } from './database.ts'

export interface TestDomain extends AsyncDisposable {
  connectionString: string
  database: Database
  journal: Journal
  desk: Desk
  /** The clock; moved by hand. */
  clock: { now: Date }
  session(options?: { start?: boolean }): Promise<Session>
  ask(sessionId: string, question?: Partial<Question>): Promise<Asked>
  row(sessionId: string): Promise<Session>
  /** Begins anew: nothing in the database, and the clock where it was. */
  clear(): Promise<void>
}

export const person: Identity = {
  kind: 'api-key',
  id: '01900000-0000-7000-8000-000000000001',
  name: 'a person',
  role: 'responder',
  sessionId: null,
}

export const runner: Actor = { kind: 'runner', name: null, role: null, id: null }

const beginning = new Date('2026-03-01T12:00:00Z')

/** What a request is put to and answered at. */
export function deskOf(journal: Journal): Desk {
  return {
    journal,
    requests: createRequests(journal.database),
    defaultExpirationMs: 60 * 60_000,
    limits: defaultLimits,
    secret: 'a secret for tests',
  }
}

/** A question as an MCP server puts it, but for what is given. */
export function questionOf(given: Partial<Question> = {}): Question {
  return {
    requestId: requestId(),
    mode: 'form',
    message: 'Delete the tenant acme?',
    requestedSchema: {},
    meta: {},
    toolName: 'delete_tenant',
    context: null,
    url: null,
    elicitationId: null,
    expiresAt: null,
    ...given,
  }
}

/** Where it comes from: the plain address. */
export const fromMcpServer: Source = { gateTokenId: null, callerAddress: '127.0.0.1', serverName: null }

/** What a command came to; its refusal is thrown. */
export function got<T>(result: T): Exclude<T, Refusal> {
  if (isRefusal(result)) throw result
  return result as Exclude<T, Refusal>
}

/** The domain on a database of its own, without any server, with a clock that stands still. */
export async function openDomain(): Promise<TestDomain> {
  const owned = await createTestDatabase()
  const database = openDatabase({ connectionString: owned.connectionString, connectionsMax: 10 })
  const clock = { now: beginning }
  const journal = createJournal({ database, now: () => clock.now, onCommitted: () => {} })
  const desk = deskOf(journal)
  return {
    connectionString: owned.connectionString,
    database,
    journal,
    desk,
    clock,
    session: async ({ start = true } = {}) =>
      got(await createSession(journal, { title: 'A test', start }, systemActor)),
    ask: async (sessionId, question = {}) =>
      got(await ask(desk, sessionId, questionOf(question), fromMcpServer)),
    row: async (id) => (await database.query<Session>(sql`select * from session where id = ${id}`))[0]!,
    async clear() {
      await database.query(
        sql`truncate session, elicitation, event, gate_token, gate_probe, gate_report, gate_incident cascade`,
      )
      clock.now = beginning
    },
    async [Symbol.asyncDispose]() {
      await database.close()
      await owned.drop()
    },
  }
}
