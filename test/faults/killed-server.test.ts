import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from 'graphql-sse'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { createSession, post, requestId } from '../support/ask.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { adminKey, freePort } from '../support/server.ts'
import { type ServerProcess, spawnServer } from '../support/server-process.ts'
import { audit } from './support/audit.ts'
import { chance } from './support/chance.ts'
import { startTraffic } from './support/traffic.ts'

/**
 * A hundred rounds, or as many as fit into two and a half minutes, as each is the start of a process: the line printed at the
 * end says how many. HOLDPOINT_TEST_KILL_ROUNDS=100 takes the time for all of them, five minutes on two slow cores.
 */
const roundsWanted = Number(process.env.HOLDPOINT_TEST_KILL_ROUNDS ?? 0)
const [roundsMin, roundsMax] = roundsWanted > 0 ? [roundsWanted, roundsWanted] : [10, 100]
const budgetMs = 150_000

let testDatabase: TestDatabase
let database: Database
let ending: AsyncDisposableStack
beforeEach(async () => {
  ending = new AsyncDisposableStack()
  testDatabase = ending.use(await createTestDatabase())
  database = openDatabase({ connectionString: testDatabase.connectionString, connectionsMax: 4 })
  ending.defer(() => database.close())
})
afterEach(() => ending.disposeAsync())

const environment = { HOLDPOINT_TRUST_PROXY: 'true' }

async function spawn(port?: number): Promise<ServerProcess> {
  return ending.use(await spawnServer({ connectionString: testDatabase.connectionString, port, environment }))
}

it('nothing that was acknowledged is lost in rounds of kill -9 under traffic, and every timeline matches', {
  timeout: 400_000 + roundsWanted * 30_000,
}, async () => {
  const luck = chance()
  const port = await freePort()
  let [old, young] = await Promise.all([spawn(port), spawn(port)])
  await Promise.all([old.ready, young.ready])
  const sessions = await Promise.all(Array.from({ length: 5 }, () => createSession(old)))
  const traffic = startTraffic({
    key: adminKey,
    urls: () => [old.url],
    sessions: sessions.map(({ id }) => id),
    hands: 8,
    thinkMs: 400,
    chance: luck,
  })

  let rounds = 0
  for (
    const until = performance.now() + budgetMs;
    rounds < roundsMin || (rounds < roundsMax && performance.now() < until);
    rounds++
  ) {
    await young.ready
    await delay(luck.below(400))
    old.kill('SIGKILL')
    await old.exited
    ;[old, young] = [young, await spawn(port)]
  }
  await young.ready
  await traffic.stop()

  const { asked, answered, delivered } = traffic.acknowledged
  console.log(
    `${rounds} kills; acknowledged ${asked.size} questions, ${answered.size} answers, ${delivered.size} deliveries`,
  )
  expect(traffic.surprises).toEqual([])
  expect(delivered.size).toBeGreaterThan(rounds)
  expect(await audit(database, traffic)).toEqual([])
})

it('a question outlives the server that took it: asked, killed, started again, answered, delivered', {
  timeout: 180_000,
}, async () => {
  const first = await spawn()
  await first.ready
  const session = await createSession(first)
  const id = requestId()
  expect((await post(first, session.id, { id })).status).toBe(201)
  const held = first.rest('GET', `/api/v1/elicitations/${id}?wait=60`).catch(() => 'cut')
  first.kill('SIGKILL')
  expect(await held).toBe('cut')

  const second = await spawn(first.port)
  await second.ready
  const waiting = second.rest('GET', `/api/v1/elicitations/${id}?wait=60`)
  const { status } = await second.rest('PATCH', `/api/v1/elicitations/${id}/respond`, {
    key: adminKey,
    body: { action_type: 'accept' },
  })
  expect(status).toBe(200)
  expect((await waiting).body).toMatchObject({ action: 'accept' })
  const [row] = await database.query(
    sql`select delivered_at is not null as delivered from elicitation where request_id = ${id}`,
  )
  expect(row).toEqual({ delivered: true })
})

it('two servers are one: asked on A, seen on B, answered on B, polled on A', {
  timeout: 180_000,
}, async () => {
  const [a, b] = await Promise.all([spawn(), spawn()])
  await Promise.all([a.ready, b.ready])
  const session = await createSession(a)
  const seen = watchTimeline(b)
  const id = requestId()
  await post(a, session.id, { id })
  const held = a.rest('GET', `/api/v1/elicitations/${id}?wait=60`)
  await seen.untilType('elicitation.created')
  const { status } = await b.rest('PATCH', `/api/v1/elicitations/${id}/respond`, {
    key: adminKey,
    body: { action_type: 'decline' },
  })
  expect(status).toBe(200)
  expect((await held).body).toMatchObject({ action: 'decline' })
  await seen.untilType('elicitation.delivered')
  seen.stop()
})

it('subscribers of one server see everything once while the other one is killed', {
  timeout: 180_000,
}, async () => {
  const [a, b] = await Promise.all([spawn(), spawn()])
  await Promise.all([a.ready, b.ready])
  const sessions = await Promise.all(Array.from({ length: 3 }, () => createSession(a)))
  const { eventCursor } = await b.graphql('{ eventCursor }')
  const seen = watchTimeline(b, eventCursor)
  const traffic = startTraffic({
    key: adminKey,
    urls: () => [a, b].filter((each) => each.isAlive()).map(({ url }) => url),
    sessions: sessions.map(({ id }) => id),
    hands: 6,
    chance: chance(),
  })
  await expect.poll(() => traffic.acknowledged.delivered.size, { timeout: 30_000 }).toBeGreaterThan(20)
  a.kill('SIGKILL')
  const before = traffic.acknowledged.delivered.size
  await expect
    .poll(() => traffic.acknowledged.delivered.size, { timeout: 30_000 })
    .toBeGreaterThan(before + 20)
  await traffic.stop()

  const written = await database.query<{ cursor: bigint }>(
    sql`select cursor from event where cursor > ${BigInt(eventCursor)} order by cursor`,
  )
  const cursors = written.map(({ cursor }) => String(cursor))
  await seen.untilCursor(cursors.at(-1)!)
  expect(seen.cursors).toEqual(cursors)
  seen.stop()
})

/** What a dashboard is sent, as it is sent. */
function watchTimeline(server: ServerProcess, after: string | null = null) {
  const cursors: string[] = []
  const types: string[] = []
  const client = createClient({
    url: `${server.url}/graphql`,
    headers: { 'x-api-key': adminKey },
    retryAttempts: 0,
  })
  const stop = client.subscribe<{ timeline: { cursor: string; type: string } }>(
    {
      query: 'subscription($after: EventCursor) { timeline(after: $after) { cursor type } }',
      variables: { after },
    },
    {
      next({ data }) {
        cursors.push(data!.timeline.cursor)
        types.push(data!.timeline.type)
      },
      error: (error) => types.push(String(error)),
      complete() {},
    },
  )
  return {
    cursors,
    untilType: (type: string) => expect.poll(() => types, { timeout: 20_000 }).toContain(type),
    untilCursor: (cursor: string) => expect.poll(() => cursors.at(-1), { timeout: 20_000 }).toBe(cursor),
    stop,
  }
}
