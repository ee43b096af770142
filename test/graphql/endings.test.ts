import { get, type IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { TimelineEvent } from '../../src/events/event.ts'
import { subscriberLagMax } from '../../src/events/fanout.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

const large = 'subscription { timeline { cursor data } }'
const small = 'subscription { timeline { cursor } }'

interface Client {
  /** Cursors of what has arrived. */
  received: string[]
  /** Settles when this one has arrived. */
  until(cursor: bigint): Promise<void>
  pause(): void
  resume(): void
  /** How it ended: a close code, or the code of the last error. */
  ended: Promise<string | number>
}

function inbox() {
  const received: string[] = []
  let arrived = () => {}
  return {
    received,
    take(cursor: string) {
      received.push(cursor)
      arrived()
    },
    async until(cursor: bigint) {
      while (received.at(-1) !== String(cursor)) await new Promise<void>((resolve) => (arrived = resolve))
    },
  }
}

async function overWebSocket({ url, adminKey }: GraphqlServer, query: string): Promise<Client> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
  const { received, take, until } = inbox()
  const ended = new Promise<number>((resolve) => socket.once('close', resolve))
  socket.once('open', () =>
    socket.send(JSON.stringify({ type: 'connection_init', payload: { apiKey: adminKey } })),
  )
  socket.on('message', (text) => {
    const { type, payload } = JSON.parse(String(text))
    if (type === 'connection_ack')
      socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }))
    if (type === 'next') take(payload.data.timeline.cursor)
  })
  return { received, until, pause: () => socket.pause(), resume: () => socket.resume(), ended }
}

async function overSse({ url, adminKey }: GraphqlServer, query: string): Promise<Client> {
  const { received, take, until } = inbox()
  const ended = Promise.withResolvers<string>()
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    get(
      `${url}/graphql?query=${encodeURIComponent(query)}`,
      { headers: { accept: 'text/event-stream', 'x-api-key': adminKey } },
      resolve,
    ).on('error', reject),
  )
  let text = ''
  let code = 'no error'
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    const messages = text.split('\n\n')
    text = messages.pop()!
    for (const message of messages) {
      const data = /^data: (.+)$/m.exec(message)?.[1]
      if (!data) continue
      const { errors, data: payload } = JSON.parse(data)
      if (payload) take(payload.timeline.cursor)
      else code = errors[0].extensions.code
    }
  })
  response.on('end', () => ended.resolve(code))
  response.on('error', () => ended.resolve('cut'))
  return {
    received,
    until,
    pause: () => response.pause(),
    resume: () => response.resume(),
    ended: ended.promise,
  }
}

const doors = [
  { door: 'WebSocket', connect: overWebSocket, codes: { slow: 4429, away: 1001 } },
  { door: 'SSE', connect: overSse, codes: { slow: 'TOO_SLOW', away: 'GOING_AWAY' } },
]

const data = { large: 'x'.repeat(64 * 1024) }

function event(cursor: bigint): TimelineEvent {
  return {
    cursor,
    type: 'notification.sent',
    sessionId: null,
    elicitationId: null,
    actorKind: 'system',
    actorName: null,
    actorRole: null,
    data,
    attention: null,
    at: new Date(0),
  }
}

describe.each(doors)('over $door', ({ connect, codes }) => {
  test('whoever does not keep up is cut off with a reason, and nobody else', async () => {
    await using server = await startGraphql()
    // What was written before must not come in between.
    await server.tail.caughtUp()
    const slow = await connect(server, large)
    const fast = await connect(server, small)
    await expect.poll(() => server.fanout.size).toBe(3)
    slow.pause()
    const first = 1_000n
    let cursor = first
    // More than it may lag behind, and more than the buffers on the way hold.
    while (server.fanout.size === 3 && cursor < first + 5n * BigInt(subscriberLagMax)) {
      for (let i = 0; i < 50; i++) server.fanout.publish(event(cursor++))
      await fast.until(cursor - 1n)
    }
    expect(server.fanout.size).toBe(2)
    slow.resume()
    expect(await slow.ended).toBe(codes.slow)
    // What it did get is without a gap: it may go on after the last one.
    expect(slow.received.length).toBeLessThan(Number(cursor - first))
    expect(slow.received).toEqual(slow.received.map((_, i) => String(first + BigInt(i))))
    server.fanout.publish(event(cursor))
    await fast.until(cursor)
  }, 60_000)

  test('when the server goes away, it says so and does not wait', async () => {
    const server = await startGraphql()
    const client = await connect(server, small)
    await expect.poll(() => server.fanout.size).toBe(2)
    const began = Date.now()
    await server[Symbol.asyncDispose]()
    expect(await client.ended).toBe(codes.away)
    expect(Date.now() - began).toBeLessThan(5_000)
  })
})

test('a socket without any operation is closed with 1001 too, and one that does not answer is cut', async () => {
  const server = await startGraphql()
  const open = () => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    socket.once('open', () =>
      socket.send(JSON.stringify({ type: 'connection_init', payload: { apiKey: server.adminKey } })),
    )
    return new Promise<WebSocket>((resolve) => socket.once('message', () => resolve(socket)))
  }
  const [idle, deaf] = [await open(), await open()]
  const code = new Promise((resolve) => idle.once('close', resolve))
  deaf.pause()
  await server[Symbol.asyncDispose]()
  expect(await code).toBe(1001)
  deaf.terminate()
}, 20_000)
