import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WebhookBody } from '../../../src/notify/webhook.ts'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  json(): WebhookBody
}

export type Behaviour = (response: ServerResponse, request: IncomingMessage) => void

export interface Receiver extends AsyncDisposable {
  url: string
  /** Every request that came in whole, in order. */
  received: Received[]
  /** What it does with the requests from now on. */
  behave(behaviour: Behaviour): void
  /** Settles once `count` requests have come in. */
  until(count: number): Promise<void>
}

export const answer =
  (status: number, body = '', headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end(body)

/** It takes the request and never says anything. */
export const hang: Behaviour = () => {}

/** It closes the connection instead of answering. */
export const closeEarly: Behaviour = (_, request) => void request.socket.destroy()

/** It answers without end. */
export const flood =
  (status: number): Behaviour =>
  (response) => {
    response.writeHead(status)
    const more = () => {
      while (response.write(Buffer.alloc(64 * 1024, 'x')));
      response.once('drain', more)
    }
    response.on('error', () => {})
    more()
  }

/** Its headers do not end. */
export const endlessHeaders: Behaviour = (_, request) => {
  request.socket.on('error', () => {})
  request.socket.write(`HTTP/1.1 200 OK\r\nX-Filler: ${'x'.repeat(64 * 1024)}`)
}

/** It begins an answer and goes on for ever, a byte now and then. */
export const trickle =
  (status: number): Behaviour =>
  (response) => {
    response.writeHead(status)
    const timer = setInterval(() => response.write('.'), 10)
    response.on('close', () => clearInterval(timer))
  }

/** Something on loopback that is sent to, and fails in whichever way it is told to. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let behaviour: Behaviour = answer(200)
  let changed: () => void = () => {}
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      received.push({
        path: request.url!,
        headers: request.headers,
        body,
        json: () => JSON.parse(body.toString('utf8')),
      })
      changed()
      behaviour(response, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    behave(next) {
      behaviour = next
    },
    async until(count) {
      while (received.length < count)
        await new Promise<void>((resolve) => {
          changed = resolve
        })
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
