import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { httpRequest, nextAddress } from './house.ts'

/**
 * Many clients in a process of their own, so that measuring them takes nothing from whom they measure. Talks over IPC: is told
 * what to do, says when it is done, and hands back when everything came in, on the clock that all processes share.
 */
export type Command =
  | { do: 'subscribe'; url: string; key: string; query: string; count: number; after?: string }
  | { do: 'listen'; url: string; count: number }
  | { do: 'hold'; port: number; paths: string[]; count: number }
  | { do: 'collect'; count: number }
  | { do: 'close' }
export type Reply = { done: true } | { arrivals: number[]; bytes: string } | { error: string }

const openAtOnce = 100
let sockets: (WebSocket | Socket)[] = []
let arrivals: number[] = []
let lastText = ''
let expected = Number.POSITIVE_INFINITY
let whenAll: (() => void) | null = null

/** Milliseconds on the system's monotonic clock. */
export const now = () => Number(process.hrtime.bigint()) / 1e6

function arrived(text: string): void {
  arrivals.push(now())
  lastText = text
  if (arrivals.length >= expected) whenAll?.()
}

async function open(count: number, one: () => Promise<WebSocket | Socket>): Promise<void> {
  let opened = 0
  await Promise.all(
    Array.from({ length: Math.min(openAtOnce, count) }, async () => {
      while (opened < count) {
        opened++
        sockets.push(await one())
      }
    }),
  )
}

function subscribe({ url, key, query, after }: Extract<Command, { do: 'subscribe' }>): Promise<WebSocket> {
  const socket = new WebSocket(url, 'graphql-transport-ws', { perMessageDeflate: false })
  return new Promise((resolve, reject) => {
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'connection_init', payload: { apiKey: key } })),
    )
    socket.on('error', reject)
    socket.on('message', (data) => {
      const text = data.toString()
      if (text.startsWith('{"type":"connection_ack"')) {
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables: { after } } }))
        // Answered once the subscription before it stands: messages of one socket are taken in order.
        socket.send('{"type":"ping"}')
      } else if (text.startsWith('{"type":"pong"')) resolve(socket)
      else if (text.includes('"type":"next"')) arrived(text)
      else if (text.includes('"type":"error"')) reject(new Error(text))
    })
  })
}

function listen({ url }: Extract<Command, { do: 'listen' }>): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(socket))
    socket.on('error', reject)
    socket.on('message', (data) => arrived(data.toString()))
  })
}

let held = 0
/** A request whose answer is held back; it is an arrival. */
function hold({ port, paths }: Extract<Command, { do: 'hold' }>): Promise<Socket> {
  const path = paths[held++ % paths.length]!
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.once('data', (data) => arrived(data.toString()))
    socket.on('connect', () =>
      socket.write(httpRequest('GET', path, { headers: { 'X-Forwarded-For': nextAddress() } }), () =>
        resolve(socket),
      ),
    )
  })
}

async function run(command: Command): Promise<Reply> {
  switch (command.do) {
    case 'subscribe':
      await open(command.count, () => subscribe(command))
      return { done: true }
    case 'listen':
      await open(command.count, () => listen(command))
      return { done: true }
    case 'hold':
      await open(command.count, () => hold(command))
      return { done: true }
    case 'collect': {
      expected = command.count
      if (arrivals.length < expected)
        await new Promise<void>((resolve) => {
          whenAll = resolve
        })
      const reply = { arrivals, bytes: lastText }
      arrivals = []
      expected = Number.POSITIVE_INFINITY
      return reply
    }
    case 'close':
      for (const socket of sockets) socket instanceof WebSocket ? socket.terminate() : socket.destroy()
      sockets = []
      arrivals = []
      return { done: true }
  }
}

if (process.send && process.argv[1] === import.meta.filename)
  process.on('message', (command: Command) => {
    run(command).then(
      (reply) => process.send!(reply),
      (error: unknown) => process.send!({ error: String(error) }),
    )
  })
