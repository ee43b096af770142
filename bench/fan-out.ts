import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { now } from './clients.ts'
import { type Crowd, gather } from './crowd.ts'
import type { Figure } from './figure.ts'
import { median, percentile } from './harness.ts'
import { adminKey, type House, nextAddress, seedSessions } from './house.ts'

const rounds = 5
const query = `subscription($after: EventCursor) { banners(after: $after) { __typename
  ... on ElicitationBannerRaised { cursor elicitation { id requestId message toolName expiresAt session { id title } } } } }`

/** One event to many subscribers, from the POST to the last of them, against bare ws sending the same bytes on a POST. */
export async function measureFanOut(house: House): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const subscribers of [1_000, 5_000]) figures.push(await fanOut(house, subscribers))
  figures.push(await storm(house))
  return figures
}

async function fanOut(house: House, subscribers: number): Promise<Figure> {
  const sessions = await seedSessions(house, rounds + 1)
  await using ours = gather()
  await subscribeAll(house, ours, subscribers)
  const first = await event(() => create(house, sessions[rounds]!), ours, subscribers)

  await using bare = await startBare(first.bytes)
  await using listeners = gather()
  await listeners.tell({ do: 'listen', url: `ws://127.0.0.1:${bare.port}`, count: subscribers })
  const shout = () => fetch(`http://127.0.0.1:${bare.port}`, { method: 'POST' })
  await event(shout, listeners, subscribers)

  const pairs: [number, number][] = []
  for (let round = 0; round < rounds; round++) {
    const { p99: mine } = await event(() => create(house, sessions[round]!), ours, subscribers)
    const { p99: theirs } = await event(shout, listeners, subscribers)
    pairs.push([mine, theirs])
  }
  const ratios = pairs.map(([a, b]) => a / b)
  return {
    what: `an event to ${subscribers.toLocaleString('en')} subscribers, p99`,
    ours: median(pairs.map(([a]) => a)),
    against: median(pairs.map(([, b]) => b)),
    unit: 'ms',
    value: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
    goal: subscribers === 1_000 ? { atMost: 2 } : null,
  }
}

/** A thousand come back at once after a cut, each with the cursor that it saw last, and all get what they missed. */
async function storm(house: House): Promise<Figure> {
  const clients = 1_000
  const missed = 5
  const seen = await present(house)
  for (const session of await seedSessions(house, missed)) await create(house, session)
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    await using crowd = gather()
    const begun = now()
    await subscribeAll(house, crowd, clients, seen)
    const { arrivals } = await crowd.collect(clients * missed)
    times.push(Math.max(...arrivals) - begun)
  }
  return {
    what: '1,000 subscribers back at once, each resumed over 5 events',
    ours: median(times),
    against: null,
    unit: 'ms',
    value: median(times),
    spread: [Math.min(...times), Math.max(...times)],
    goal: null,
  }
}

async function event(cause: () => Promise<unknown>, crowd: Crowd, count: number) {
  const begun = now()
  const [, { arrivals, bytes }] = await Promise.all([cause(), crowd.collect(count)])
  return { p99: percentile(arrivals, 0.99) - begun, bytes }
}

export function subscribeAll({ ours }: House, crowd: Crowd, count: number, after?: string): Promise<void> {
  return crowd.tell({
    do: 'subscribe',
    url: `ws://127.0.0.1:${ours.port}/graphql`,
    key: adminKey,
    query,
    count,
    ...(after === undefined ? {} : { after }),
  })
}

let serial = 0
/** Asks in the session, and returns the request id. */
export async function create({ ours }: House, session: string): Promise<string> {
  const requestId = `fan-out-${serial++}`
  const response = await fetch(`http://127.0.0.1:${ours.port}/api/v1/elicitations`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': nextAddress() },
    body: JSON.stringify({
      message: 'Delete the tenant acme? This cannot be undone.',
      _meta: {
        'com.pulsemcp/request-id': requestId,
        'com.pulsemcp/session-id': session,
        'com.pulsemcp/tool-name': 'delete_tenant',
      },
    }),
  })
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`)
  await response.arrayBuffer()
  return requestId
}

async function present({ ours }: House): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${ours.port}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': adminKey },
    body: JSON.stringify({ query: '{ eventCursor }' }),
  })
  const { data } = (await response.json()) as { data: { eventCursor: string } }
  return data.eventCursor
}

/** ws and nothing else, in a process of its own: on a POST it sends the same bytes to everybody. */
async function startBare(bytes: string): Promise<{ port: number } & AsyncDisposable> {
  const child = fork(import.meta.filename, [bytes])
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

if (process.send && process.argv[1] === import.meta.filename) {
  const bytes = process.argv[2]!
  const server = createServer((_, response) => {
    for (const socket of sockets.clients) socket.send(bytes)
    response.end()
  })
  const sockets = new WebSocketServer({ server, perMessageDeflate: false })
  server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
}
