import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSession, post, requestId } from '../support/ask.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { adminKey, freePort } from '../support/server.ts'
import { type ServerProcess, spawnServer } from '../support/server-process.ts'

/** Twenty in a minute, on a machine that starts a server in two seconds; fewer where that takes longer. */
const restartsMax = 20
const restartsMin = 3
const budgetMs = 45_000
const pollers = 200

let testDatabase: TestDatabase
let ending: AsyncDisposableStack
beforeEach(async () => {
  ending = new AsyncDisposableStack()
  testDatabase = ending.use(await createTestDatabase())
})
afterEach(() => ending.disposeAsync())

async function spawn(port?: number): Promise<ServerProcess> {
  return ending.use(
    await spawnServer({
      connectionString: testDatabase.connectionString,
      port,
      environment: { HOLDPOINT_TRUST_PROXY: 'true', HOLDPOINT_POLL_HOLD_SECONDS: '1' },
    }),
  )
}

it(`not one poll of ${pollers} agents fails through rolling restarts`, { timeout: 300_000 }, async () => {
  const port = await freePort()
  let current = await spawn(port)
  await current.ready
  const session = await createSession(current)
  const id = requestId()
  await post(current, session.id, { id })

  const failures: string[] = []
  let polls = 0
  const stopping = new AbortController()
  /** The loop of the fallback client: GET, sleep, and again on the same connection. */
  async function agent(number: number): Promise<string | null> {
    const headers = { 'x-forwarded-for': `10.0.${number >> 8}.${number & 255}` }
    while (!stopping.signal.aborted) {
      try {
        const response = await fetch(`${current.url}/api/v1/elicitations/${id}`, { headers })
        const body = (await response.json()) as { action: string }
        polls++
        if (response.status !== 200) failures.push(`${response.status} ${JSON.stringify(body)}`)
        else if (body.action !== 'pending') return body.action
      } catch (error) {
        failures.push(String((error as Error).cause ?? error))
      }
      await delay(1_000)
    }
    return null
  }
  const agents = Array.from({ length: pollers }, (_, number) => agent(number))

  const drained: Promise<number | null>[] = []
  let restarts = 0
  for (
    const until = performance.now() + budgetMs;
    restarts < restartsMax && (restarts < restartsMin || performance.now() < until);
    restarts++
  ) {
    const next = await spawn(port)
    await next.ready
    current.kill('SIGTERM')
    drained.push(current.exited)
    current = next
  }
  const codes = await Promise.all(drained)
  await current.rest('PATCH', `/api/v1/elicitations/${id}/respond`, {
    key: adminKey,
    body: { action_type: 'accept' },
  })
  const answers = await Promise.all(agents)
  console.log(`${restarts} restarts under ${polls} polls of ${pollers} agents`)
  expect(failures).toEqual([])
  expect(codes).toEqual(codes.map(() => 0))
  expect(answers).toEqual(answers.map(() => 'accept'))
})

it('a server that is told to go lets its polls go as pending, and is gone within ten seconds', {
  timeout: 120_000,
}, async () => {
  const server = await spawn()
  await server.ready
  const session = await createSession(server)
  const id = requestId()
  await post(server, session.id, { id })
  const held = server.rest('GET', `/api/v1/elicitations/${id}?wait=60`)
  await expect
    .poll(async () => (await server.rest('GET', '/metrics')).body)
    .toMatch(/^holdpoint_held_polls 1$/m)
  const toldAt = performance.now()
  server.kill('SIGTERM')
  const { status, headers, body } = await held
  expect(performance.now() - toldAt).toBeLessThan(3_000)
  expect({ status, connection: headers.get('connection'), action: body.action }).toEqual({
    status: 200,
    connection: 'close',
    action: 'pending',
  })
  expect(await server.exited).toBe(0)
  expect(performance.now() - toldAt).toBeLessThan(10_000)
})
