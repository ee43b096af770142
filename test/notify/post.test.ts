import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { post } from '../../src/notify/post.ts'
import {
  answer,
  closeEarly,
  endlessHeaders,
  flood,
  hang,
  type Receiver,
  startReceiver,
  trickle,
} from './support/receiver.ts'

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver[Symbol.asyncDispose]())

const send = (timeoutMs = 5_000, signal?: AbortSignal) =>
  post(new URL(`${receiver.url}/a?b=c`), { headers: { 'X-Mine': 'yes' }, body: 'grüße', timeoutMs, signal })

it('posts a body with its headers', async () => {
  receiver.behave(answer(204))
  expect(await send()).toEqual({ status: 204, detail: 'HTTP 204' })
  const last = receiver.received.at(-1)!
  expect(last.path).toBe('/a?b=c')
  expect(last.headers).toMatchObject({ 'x-mine': 'yes', 'content-length': '7', 'user-agent': 'Holdpoint' })
  expect(last.body.toString()).toBe('grüße')
})

it('gives up a receiver that hangs when its time is over', async () => {
  receiver.behave(hang)
  expect(await send(150)).toEqual({ status: null, detail: 'no answer within 0.15 s' })
})

it('ends at once when this server goes away', async () => {
  receiver.behave(hang)
  const ending = new AbortController()
  const before = receiver.received.length
  const sending = send(60_000, ending.signal)
  await receiver.until(before + 1)
  ending.abort()
  expect(await sending).toEqual({ status: null, detail: 'this server went away during the attempt' })
})

it('tells what a receiver says that fails, in one line, without secrets, and not all of it', async () => {
  receiver.behave(answer(500, `no\n  way: token=abcdef \u202e ${'x'.repeat(5_000)}`))
  const { status, detail } = await send()
  expect(status).toBe(500)
  expect(detail).toMatch(/^HTTP 500: no way: token=\[redacted\] ⟨U\+202E⟩ xxx/)
  expect([...detail]).toHaveLength(300)
})

it('does not follow a redirect', async () => {
  const before = receiver.received.length
  receiver.behave(answer(307, '', { location: `${receiver.url}/elsewhere` }))
  expect(await send()).toEqual({ status: 307, detail: 'HTTP 307 (redirects are not followed)' })
  expect(receiver.received).toHaveLength(before + 1)
})

it('knows a connection that closes without an answer', async () => {
  receiver.behave(closeEarly)
  expect(await send()).toEqual({ status: null, detail: 'socket hang up (ECONNRESET)' })
})

it.each([200, 503])('reads little of an answer of %s without end', async (status) => {
  receiver.behave(flood(status))
  const posted = await send()
  expect(posted.status).toBe(status)
  expect(posted.detail.length).toBeLessThanOrEqual(300)
})

it('takes a success for one although its body trickles for ever', async () => {
  receiver.behave(trickle(200))
  expect(await send(60_000)).toEqual({ status: 200, detail: 'HTTP 200' })
})

it('keeps the status of a failure whose body does not end in time', async () => {
  receiver.behave(trickle(500))
  const posted = await send(1_000)
  expect(posted.status).toBe(500)
})

it('does not take in headers without end', async () => {
  receiver.behave(endlessHeaders)
  const posted = await send()
  expect(posted.status).toBe(null)
  expect(posted.detail).toContain('HPE_HEADER_OVERFLOW')
})

it('knows a receiver that does not speak HTTP', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.resume()
    socket.end('220 mail.example ESMTP\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const posted = await post(new URL(`http://127.0.0.1:${port}`), { headers: {}, body: '' })
  expect(posted.status).toBe(null)
  await new Promise((resolve) => server.close(resolve))
})

it('knows a port on which nobody listens', async () => {
  const gone = await startReceiver()
  await gone[Symbol.asyncDispose]()
  const posted = await post(new URL(gone.url), { headers: {}, body: '' })
  expect(posted.status).toBe(null)
  expect(posted.detail).toContain('ECONNREFUSED')
})

it('signs in with the credentials of an address', async () => {
  receiver.behave(answer(200))
  await post(new URL(receiver.url.replace('://', '://me:pass@')), { headers: {}, body: '' })
  expect(receiver.received.at(-1)!.headers.authorization).toBe(`Basic ${btoa('me:pass')}`)
})
