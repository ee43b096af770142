import { setTimeout as later } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { confirmSchema, createSession, post, requestId } from '../support/ask.ts'
import { boundKey } from '../support/mcp.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'
import { bombs } from './support/documents.ts'
import { type Input, makeInput, type World } from './support/inputs.ts'
import { createRandom } from './support/random.ts'
import { openWire, type Wire } from './support/wire.ts'

const seed = Number(process.env.HOLDPOINT_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))
const only = process.env.HOLDPOINT_FUZZ_INPUT
const inputs = Number(process.env.HOLDPOINT_FUZZ_INPUTS ?? 20_000)
const warmUp = 3_000
/** Fewer than the database has connections: what is looked for is a fault, and not a queue. */
const connections = 8
/** Longer than anything here takes, on the slowest machine that it should pass on. */
const hangMs = 20_000
/** How long a caller looks at an answer that it will not wait for. */
const glanceMs = 15
const heapGrowthMaxBytes = 40 * 1024 * 1024

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

async function heapBytes(): Promise<number> {
  // What is held by finished callbacks goes with the next turns of the loop.
  for (let turn = 0; turn < 3; turn++) {
    await later(10)
    collectGarbage()
  }
  return process.memoryUsage().heapUsed
}

async function makeWorld(server: TestServer): Promise<World> {
  const sessions = await Promise.all(Array.from({ length: 24 }, () => createSession(server)))
  const { id: victim } = await createSession(server)
  const addresses = await Promise.all(
    sessions.slice(0, 4).map(async ({ id }) => {
      const { rotateGateToken } = await server.graphql(
        'mutation($s: ID!) { rotateGateToken(sessionId: $s) { ... on RotateGateTokenSuccess { gateToken { url } } } }',
        { s: id },
      )
      return new URL(rotateGateToken.gateToken.url).pathname
    }),
  )
  const schemas = [
    confirmSchema,
    {},
    ...bombs.map((pattern) => ({ type: 'object', properties: { name: { type: 'string', pattern } } })),
    {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, { type: 'string' }])),
    },
    JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}}',
    ),
  ]
  const requestIds = await Promise.all(
    schemas.map(
      async (requestedSchema, i) =>
        (await post(server, sessions[4 + (i % 20)]!.id, { requestedSchema })).body.requestId,
    ),
  )
  const keys: Record<string, string> = { admin: adminKey, bound: await boundKey(server, victim) }
  for (const role of ['viewer', 'responder', 'launcher', 'operator']) {
    const { createApiKey } = await server.graphql(
      'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { ... on CreateApiKeySuccess { secret } } }',
      { input: { name: role, role: role.toUpperCase() } },
    )
    keys[role] = createApiKey.secret
  }
  return { host: new URL(server.url).host, sessions, victim, addresses, requestIds, keys }
}

/** What must not be in an answer to anybody: a place in the code, a file of the machine, the project's own files. */
const leaks = /\n\s+at .+:\d+:\d+|node_modules|root:x:0|"devDependencies"/

/** The inputs of a range, many at a time. What goes wrong and what is answered is added to `outcome`. */
async function run(
  world: World,
  port: number,
  [from, to]: [from: number, to: number],
  { problems, statuses }: { problems: string[]; statuses: Map<number, number> },
): Promise<void> {
  let next = from

  async function send(wire: Wire, input: Input, problem: (what: string) => void): Promise<void> {
    for (const [i, piece] of input.pieces.entries()) {
      if (i > 0) await new Promise(setImmediate)
      wire.write(piece)
    }
    const isAwaited = input.answers.length > 0
    for (const { withoutBody } of isAwaited ? input.answers : [{ withoutBody: false }]) {
      const answer = await wire.receive({ withoutBody, withinMs: isAwaited ? hangMs : glanceMs })
      if (answer === 'silent') {
        if (isAwaited) problem('no answer')
        return wire.drop()
      }
      if (answer === null) return isAwaited ? problem('closed without an answer') : undefined
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (answer.status >= 500) problem(`${answer.status} ${answer.body.slice(0, 200)}`)
      if (leaks.test(answer.body)) problem(`leaks ${answer.body.slice(0, 300)}`)
      // After these the connection speaks of nothing more.
      if (answer.status === 101 || /\r\nconnection: close/i.test(answer.head)) return wire.drop()
    }
    if (!isAwaited) wire.drop()
  }

  await Promise.all(
    Array.from({ length: connections }, async () => {
      let wire = await openWire(port)
      let previous = -1
      while (next < to) {
        const index = next++
        const input = makeInput(world, createRandom(seed, index))
        if (!wire.isOpen) {
          wire = await openWire(port)
          previous = -1
        }
        const problem = (what: string) =>
          problems.push(
            `input ${index} (${input.kind}), after ${previous}: ${what}\n    ${JSON.stringify(Buffer.concat(input.pieces).toString('latin1').slice(0, 600))}`,
          )
        await send(wire, input, problem).catch((error: Error) => {
          problem(error.message)
          wire.drop()
        })
        previous = index
      }
      wire.drop()
    }),
  )
}

/** Streams that the server serves, its own among them. */
async function subscribersOf(server: TestServer): Promise<number> {
  const { body } = await server.rest('GET', '/metrics')
  return Number(/^holdpoint_subscribers (\d+)$/m.exec(body)![1])
}

/** Agents and people who go on with their work: each round a question, a poll that is held, and the answer that ends it. */
function workBeside(server: TestServer): () => Promise<number> {
  let isOver = false
  const working = (async () => {
    let rounds = 0
    while (!isOver) {
      const { id: session } = await createSession(server, { title: 'beside' })
      const id = requestId()
      expect((await post(server, session, { id, requestedSchema: confirmSchema })).status).toBe(201)
      const polled = server.rest('GET', `/api/v1/elicitations/${id}?wait=20`)
      const answered = await server.rest('PATCH', `/api/v1/elicitations/${id}/respond`, {
        key: adminKey,
        body: { action_type: 'accept', content: { confirm: true } },
      })
      expect(answered.status).toBe(200)
      expect(await polled).toMatchObject({
        status: 200,
        body: { action: 'accept', content: { confirm: true } },
      })
      rounds++
      // A creation a second is what the limit of an address allows.
      await later(1_000)
    }
    return rounds
  })()
  working.catch(() => {})
  return () => {
    isOver = true
    return working
  }
}

it(`no input of strangers or of key holders breaks the server, holds it up, stays in its memory or harms others (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  console.log(
    `fuzz: HOLDPOINT_FUZZ_SEED=${seed} repeats this run; with HOLDPOINT_FUZZ_INPUT=<number> a single input of it`,
  )
  await using server = await startServer({
    environment: {
      HOLDPOINT_TRUST_PROXY: '127.0.0.1',
      HOLDPOINT_GATE_ACCESS: 'mixed',
      HOLDPOINT_POLL_HOLD_SECONDS: '0',
      LOG_LEVEL: 'warn',
      // GraphiQL's own page is full of what would look like a leak.
      HOLDPOINT_ENV: 'production',
    },
  })
  const world = await makeWorld(server)
  const port = Number(new URL(server.url).port)
  const outcome = { problems: [] as string[], statuses: new Map<number, number>() }
  const { problems, statuses } = outcome
  if (only !== undefined) {
    await run(world, port, [Number(only), Number(only) + 1], outcome)
    console.log(outcome.statuses, server.logLines.join(''))
    return expect(outcome.problems).toEqual([])
  }

  const subscribers = await subscribersOf(server)
  await run(world, port, [0, warmUp], outcome)
  const before = await heapBytes()
  const stopWork = workBeside(server)
  const begun = performance.now()
  await run(world, port, [warmUp, inputs], outcome)
  const seconds = (performance.now() - begun) / 1_000
  const rounds = await stopWork()

  console.log(`fuzz: ${Math.round((inputs - warmUp) / seconds)} inputs a second; answers`, statuses)
  expect(problems.slice(0, 10).join('\n')).toBe('')
  expect(server.logLines.filter((line) => JSON.parse(line).level >= 50).slice(0, 3)).toEqual([])
  // Inputs of every kind got in, were refused for what they are, and were not merely turned away by a limit.
  expect(statuses.get(201)).toBeGreaterThan(50)
  expect(statuses.get(422)).toBeGreaterThan(1_000)
  expect(statuses.get(429) ?? 0).toBeLessThan(inputs / 20)
  expect(rounds).toBeGreaterThan(0)

  server.logLines.length = 0
  await expect.poll(() => server.app.heldPolls()).toBe(0)
  await expect.poll(() => subscribersOf(server), { timeout: 30_000 }).toBe(subscribers)
  expect((await heapBytes()) - before).toBeLessThan(heapGrowthMaxBytes)
})
