import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import {
  type EmbeddedPostgres,
  removeDataFolder,
  startEmbeddedPostgres,
} from '../../src/database/embedded.ts'
import { createSession, post, requestId } from '../support/ask.ts'
import { adminKey, freePort } from '../support/server.ts'
import { type ServerProcess, spawnServer } from '../support/server-process.ts'
import { audit } from './support/audit.ts'
import { chance } from './support/chance.ts'
import { startTraffic } from './support/traffic.ts'

let ending: AsyncDisposableStack
let dataDir: string
let port: number
let postgres: EmbeddedPostgres | null
beforeEach(async () => {
  ending = new AsyncDisposableStack()
  dataDir = await mkdtemp(join(tmpdir(), 'holdpoint-killed-postgres-'))
  port = await freePort()
  postgres = null
  ending.defer(async () => {
    await postgres?.stop()
    await removeDataFolder(dataDir)
  })
})
afterEach(() => ending.disposeAsync())

const silent = { info() {}, warn() {}, error() {} }

/** The database as it is in earnest, with all its durability. */
async function startDatabase(): Promise<string> {
  postgres = await startEmbeddedPostgres({ dataDir, port, log: silent })
  return postgres.connectionString
}

async function killDatabase(): Promise<void> {
  process.kill(postgres!.pid, 'SIGKILL')
  await postgres!.stop()
}

async function spawn(
  connectionString: string,
  environment: Record<string, string> = {},
): Promise<ServerProcess> {
  return ending.use(
    await spawnServer({ connectionString, environment: { HOLDPOINT_TRUST_PROXY: 'true', ...environment } }),
  )
}

const readiness = async (server: ServerProcess) => (await server.rest('GET', '/readyz')).status

it('a server lives through the death of its database: polls wait, the rest is told to come again, and all recover', {
  timeout: 180_000,
}, async () => {
  const server = await spawn(await startDatabase())
  await server.ready
  const session = await createSession(server)
  const [id, other] = [requestId(), requestId()]
  await post(server, session.id, { id })
  await post(server, session.id, { id: other })
  const held = server.rest('GET', `/api/v1/elicitations/${id}?wait=60`)
  await killDatabase()

  await expect.poll(() => readiness(server), { timeout: 30_000 }).toBe(503)
  const refused = await post(server, session.id)
  expect(refused).toMatchObject({ status: 503, body: { code: 'DATABASE_UNAVAILABLE' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  // A poll is pending, never an error: at once where it is not to be held, and else when its time is up.
  const unheld = await server.rest('GET', `/api/v1/elicitations/${other}?wait=0`)
  expect(unheld).toMatchObject({ status: 200, body: { action: 'pending' } })
  const short = await server.rest('GET', `/api/v1/elicitations/${other}?wait=1`)
  expect(short).toMatchObject({ status: 200, body: { action: 'pending' } })
  const begunMeanwhile = server.rest('GET', `/api/v1/elicitations/${other}?wait=60`)

  await startDatabase()
  await expect.poll(() => readiness(server), { timeout: 60_000 }).toBe(200)
  for (const each of [id, other]) {
    const answered = await server.rest('PATCH', `/api/v1/elicitations/${each}/respond`, {
      key: adminKey,
      body: { action_type: 'accept' },
    })
    expect(answered.status).toBe(200)
  }
  expect(await held).toMatchObject({ status: 200, body: { action: 'accept' } })
  expect(await begunMeanwhile).toMatchObject({ status: 200, body: { action: 'accept' } })
  expect(server.isAlive()).toBe(true)
  expect(server.output()).not.toContain('nobody waited for')
})

it('nothing that was acknowledged is lost when the database is killed again and again under traffic', {
  timeout: 240_000,
}, async () => {
  const luck = chance()
  const connectionString = await startDatabase()
  const server = await spawn(connectionString)
  await server.ready
  const sessions = await Promise.all(Array.from({ length: 5 }, () => createSession(server)))
  const traffic = startTraffic({
    key: adminKey,
    urls: () => [server.url],
    sessions: sessions.map(({ id }) => id),
    hands: 8,
    chance: luck,
  })
  const delivered = () => traffic.acknowledged.delivered.size
  let rounds = 0
  for (
    const until = performance.now() + 60_000;
    rounds < 2 || (rounds < 5 && performance.now() < until);
    rounds++
  ) {
    const before = delivered()
    await expect.poll(delivered, { timeout: 30_000 }).toBeGreaterThan(before + 10)
    await delay(luck.below(300))
    await killDatabase()
    await startDatabase()
  }
  const before = delivered()
  await expect.poll(delivered, { timeout: 30_000 }).toBeGreaterThan(before + 10)
  await traffic.stop()
  console.log(
    `${rounds} kills; acknowledged ${traffic.acknowledged.asked.size} questions, ${delivered()} deliveries`,
  )
  expect(traffic.surprises).toEqual([])
  expect(server.isAlive()).toBe(true)
  expect(server.output()).not.toContain('nobody waited for')
  const database = openDatabase({ connectionString, connectionsMax: 2 })
  try {
    expect(await audit(database, traffic)).toEqual([])
  } finally {
    await database.close()
  }
})

it('a server that is started before its database waits for it', { timeout: 180_000 }, async () => {
  const connectionString = await startDatabase()
  await killDatabase()
  const server = await spawn(connectionString)
  await expect.poll(() => server.output(), { timeout: 120_000 }).toContain('waiting up to 60 s')
  await startDatabase()
  await server.ready
  expect(await readiness(server)).toBe(200)
})

it('a server whose database refuses it says so at once and does not wait', { timeout: 120_000 }, async () => {
  const address = new URL(await startDatabase())
  address.password = 'not this one'
  const server = await spawn(address.href)
  expect(await server.exited).toBe(1)
  expect(server.output()).toContain('See that PostgreSQL runs there and that DATABASE_URL is right')
  expect(server.output()).not.toContain('waiting up to')
})
