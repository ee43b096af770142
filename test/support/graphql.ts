import { createClient as createSseClient } from 'graphql-sse'
import { createClient as createWsClient } from 'graphql-ws'
import { pino } from 'pino'
import { createAuthenticator } from '../../src/auth/authenticator.ts'
import { createKey, type NewKey } from '../../src/auth/keys.ts'
import type { Role } from '../../src/auth/role.ts'
import { unknownSession } from '../../src/base/refusal.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import type { Session } from '../../src/database/generated/prisma/client.ts'
import { sql } from '../../src/database/sql.ts'
import { type Asked, ask, type Question } from '../../src/elicitation/ask.ts'
import type { Desk } from '../../src/elicitation/elicitation.ts'
import { createPresence, type Presence } from '../../src/elicitation/presence.ts'
import { startDoorbell } from '../../src/events/doorbell.ts'
import { systemActor } from '../../src/events/event.ts'
import { createFanout, type Fanout } from '../../src/events/fanout.ts'
import { createJournal, type Journal } from '../../src/events/journal.ts'
import { startTail, type Tail } from '../../src/events/tail.ts'
import { createTimelineVersion } from '../../src/events/version.ts'
import type { GateReport } from '../../src/gate/host-report.ts'
import type { GateStatus } from '../../src/gate/status.ts'
import { registerGraphql } from '../../src/graphql/server/register.ts'
import type { GraphqlServices } from '../../src/graphql/services.ts'
import { createHttp } from '../../src/http.ts'
import { createSession, type NewSession } from '../../src/session/commands.ts'
import type { LaunchRequest } from '../../src/session/prepare-launch.ts'
import { createTestDatabase } from './database.ts'
import { deskOf, fromMcpServer, got, questionOf } from './domain.ts'

export interface GraphqlAnswer {
  status: number
  headers: Headers
  body: any
}

export interface GraphqlServer extends AsyncDisposable {
  url: string
  connectionString: string
  database: Database
  journal: Journal
  fanout: Fanout
  tail: Tail
  desk: Desk
  presence: Presence
  services: GraphqlServices
  /** What the gate and the launch were asked. */
  asked: { reports: GateReport[]; launches: LaunchRequest[]; probes: number; rotated: string[] }
  gateStatus: GateStatus
  logLines: string[]
  /** An admin's. */
  adminKey: string
  key(key: Partial<NewKey> & { role: Role }): Promise<{ secret: string; id: string }>
  post(body: unknown, headers?: Record<string, string>): Promise<GraphqlAnswer>
  /** The whole answer of one operation. */
  ask(query: string, variables?: object, key?: string): Promise<GraphqlAnswer>
  /** The data of one operation that has no errors. */
  run<Data = any>(query: string, variables?: object, key?: string): Promise<Data>
  websocket(options?: Partial<Parameters<typeof createWsClient>[0]>): ReturnType<typeof createWsClient>
  sse(key?: string): ReturnType<typeof createSseClient>
  session(session?: Partial<NewSession>): Promise<Session>
  elicit(sessionId: string, question?: Partial<Question>): Promise<Asked>
}

/** The GraphQL surface on a database of its own (or another server's), with a gate and a launch made of memory. */
export async function startGraphql({
  connectionString,
  now = () => new Date(),
  development = false,
  checkEveryMs,
}: {
  connectionString?: string
  now?: () => Date
  development?: boolean
  /** How often the credentials of who is connected are checked. */
  checkEveryMs?: number
} = {}): Promise<GraphqlServer> {
  await using undo = new AsyncDisposableStack()
  const owned = connectionString === undefined ? undo.use(await createTestDatabase()) : null
  const address = connectionString ?? owned!.connectionString
  const logLines: string[] = []
  const log = pino({ level: 'debug', base: undefined }, { write: (line: string) => logLines.push(line) })
  const onError = (error: unknown) => log.error({ err: error }, 'in the background')

  const database = openDatabase({ connectionString: address, connectionsMax: 10 })
  undo.defer(() => database.close())
  const fanout = createFanout(database, () => tail.position)
  const tail = await startTail({ database, onEvent: follow, onError })
  undo.defer(() => tail.stop())
  const doorbell = startDoorbell({ database, connectionString: address, onRing: tail.ring, onError })
  undo.defer(() => doorbell.stop())
  const journal = createJournal({
    database,
    now,
    onCommitted() {
      tail.ring()
      doorbell.ring()
    },
  })
  const presence = createPresence({ database, now, onError })
  undo.defer(() => presence.stop())
  const authenticator = createAuthenticator({ journal, secret: 'a secret for tests', onError })
  undo.defer(() => authenticator.stop())
  const desk = deskOf(journal)

  function follow(event: Parameters<Fanout['publish']>[0]): void {
    if (event.type === 'key.revoked') {
      authenticator.forget(String(event.data.keyId))
      fanout.endSubscriptionsOf(String(event.data.keyId))
    }
    fanout.publish(event)
  }

  const asked: GraphqlServer['asked'] = { reports: [], launches: [], probes: 0, rotated: [] }
  const gateStatus: GateStatus = {
    url: 'http://127.0.0.1:4010/api/v1/elicitations',
    access: 'open',
    reachable: null,
    detail: null,
    checkedAt: null,
    incident: null,
    hosts: [],
  }
  const exists = async (id: string) =>
    (await database.query(sql`select 1 from session where id = ${id}`)).length > 0
  const noSession = unknownSession()
  const http = createHttp({ log, trustProxy: false })
  const services: GraphqlServices = {
    journal,
    fanout,
    position: () => tail.position,
    timelineVersion: createTimelineVersion(database, () => tail.position),
    desk,
    presence,
    authenticator,
    log,
    config: { publicUrl: 'http://holdpoint.test', trustProxy: false, development },
    gate: {
      status: async () => gateStatus,
      async probe() {
        asked.probes++
        return Object.assign(gateStatus, { reachable: true, detail: 'HTTP 404', checkedAt: now() })
      },
      async report(sessionId, report, actor) {
        asked.reports.push(report)
        await journal.write(async (entry) =>
          entry.append({ type: 'gate.reported', sessionId, actor, data: { ...report }, at: now() }),
        )
      },
      async rotateToken(sessionId) {
        if (!(await exists(sessionId))) return noSession
        asked.rotated.push(sessionId)
        return {
          url: `http://holdpoint.test/api/v1/gate/token-${asked.rotated.length}/elicitations`,
          createdAt: now(),
        }
      },
    },
    launch: {
      async prepare(request) {
        if (!(await exists(request.sessionId))) return noSession
        asked.launches.push(request)
        return {
          env: [{ name: 'ELICITATION_SESSION_ID', value: request.sessionId }],
          mcpConfig: request.mcpConfig?.text ?? null,
          systemPrompt: null,
          warnings: [],
          agentKey: request.withAgentKey ? 'hp_agent' : null,
        }
      },
    },
  }
  const surface = await registerGraphql(http, services, { checkEveryMs })
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  undo.defer(async () => {
    fanout.endAll('going away')
    await surface.close()
    http.server.closeAllConnections()
    await http.close()
  })

  const key: GraphqlServer['key'] = async (wanted) => {
    const { secret, apiKey } = got(
      await createKey(journal, { name: `a ${wanted.role}`, ...wanted }, systemActor),
    )
    return { secret, id: apiKey.id }
  }
  const adminKey = (await key({ role: 'admin', name: 'an admin' })).secret

  const post: GraphqlServer['post'] = async (body, headers = {}) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }
  const ending = undo.move()
  const askServer: GraphqlServer['ask'] = (query, variables = {}, key = adminKey) =>
    post({ query, variables }, { 'x-api-key': key })

  return {
    url,
    connectionString: address,
    database,
    journal,
    fanout,
    tail,
    desk,
    presence,
    services,
    asked,
    gateStatus,
    logLines,
    adminKey,
    key,
    post,
    ask: askServer,
    async run(query, variables, key) {
      const { body } = await askServer(query, variables, key)
      if (body.errors) throw new Error(JSON.stringify(body.errors))
      return body.data
    },
    websocket: (options = {}) =>
      createWsClient({
        url: `${url.replace('http', 'ws')}/graphql`,
        connectionParams: { apiKey: adminKey },
        retryAttempts: 0,
        onNonLazyError: () => {},
        ...options,
      }),
    sse: (key = adminKey) =>
      createSseClient({ url: `${url}/graphql`, headers: { 'x-api-key': key }, retryAttempts: 0 }),
    session: async (session = {}) =>
      got(await createSession(journal, { title: 'A test', start: true, ...session }, systemActor)),
    elicit: async (sessionId, question = {}) =>
      got(await ask(desk, sessionId, questionOf(question), fromMcpServer)),
    [Symbol.asyncDispose]: () => ending.disposeAsync(),
  }
}
