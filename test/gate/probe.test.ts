import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { probe } from '../../src/gate/probe.ts'

/** A server on loopback that is closed, connections and all, at the end of the test. */
async function listening(server: Server) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    // The client hangs up on some of these servers in the middle of a write.
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/api/v1/elicitations`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const answering = (listener: RequestListener) => listening(createServer(listener))
const tcp = (onConnection: (socket: Socket) => void) => listening(createTcpServer(onConnection))
const now = () => new Date('2026-03-01T12:00:00Z')

describe('a gate is reachable when it gives any HTTP answer', () => {
  it.each([200, 204, 301, 401, 403, 404, 429, 500, 503])('such as %d', async (status) => {
    const asked: (string | undefined)[] = []
    await using server = await answering((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.writeHead(status, { location: 'http://192.0.2.1/elsewhere' }).end()
    })
    expect(await probe(server.url, { now })).toEqual({
      url: server.url,
      reachable: true,
      detail: `HTTP ${status}`,
      checkedAt: now(),
    })
    expect(asked).toEqual(['GET /api/v1/elicitations/holdpoint-reachability-probe?wait=0'])
  })

  it('even when the body never ends', async () => {
    await using server = await answering((_, response) => {
      response.writeHead(200)
      response.write('x')
    })
    expect(await probe(server.url)).toMatchObject({ reachable: true, detail: 'HTTP 200' })
  })
})

describe('a gate is not reachable', () => {
  it('when the connection is refused', async () => {
    const server = await tcp(() => undefined)
    await server[Symbol.asyncDispose]()
    expect(await probe(server.url, { now })).toEqual({
      url: server.url,
      reachable: false,
      detail: 'connection refused (ECONNREFUSED)',
      checkedAt: now(),
    })
  })

  it('when both addresses of a name refuse', async () => {
    const server = await tcp(() => undefined)
    await server[Symbol.asyncDispose]()
    const { reachable, detail } = await probe(`http://localhost:${server.port}`)
    expect({ reachable, detail }).toEqual({ reachable: false, detail: 'connection refused (ECONNREFUSED)' })
  })

  it('when its name does not resolve', async () => {
    const { reachable, detail } = await probe('http://gate.invalid/e', { timeoutMs: 2_000 })
    expect(reachable).toBe(false)
    // A machine without any name server takes its time to find out.
    expect(detail).toMatch(
      /^(the host name does not resolve( at present)? \((ENOTFOUND|EAI_AGAIN)\)|no answer within 2 s)$/,
    )
  })

  it('when it does not speak TLS', async () => {
    await using server = await answering((_, response) => response.end())
    const { reachable, detail } = await probe(server.url.replace('http:', 'https:'))
    expect(reachable).toBe(false)
    expect(detail).toMatch(/^TLS failed: /)
  })

  it('when it accepts and says nothing', async () => {
    await using server = await tcp(() => undefined)
    expect(await probe(server.url, { timeoutMs: 200 })).toMatchObject({
      reachable: false,
      detail: 'no answer within 0.2 s',
    })
  })

  it('when it accepts and hangs up', async () => {
    await using server = await tcp((socket) => socket.once('data', () => socket.end()))
    const { reachable, detail } = await probe(server.url)
    expect(reachable).toBe(false)
    expect(detail).toMatch(/^connection (closed without an answer|reset) \(/)
  })

  it('when it answers something that is not HTTP', async () => {
    await using server = await tcp((socket) => socket.end('220 mail.example ESMTP\r\n'))
    const { reachable, detail } = await probe(server.url)
    expect(reachable).toBe(false)
    expect(detail).toBe('the answer is not HTTP')
  })

  it('when its headers drip on for ever', async () => {
    await using server = await tcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const drip = setInterval(() => socket.write('x-more: 1\r\n'), 10)
      socket.on('close', () => clearInterval(drip))
    })
    expect(await probe(server.url, { timeoutMs: 300 })).toMatchObject({
      reachable: false,
      detail: 'no answer within 0.3 s',
    })
  })

  it('when its headers are a flood', async () => {
    await using server = await tcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const pour = () => {
        while (!socket.destroyed && socket.write(`x-more: ${'1'.repeat(4_000)}\r\n`)) {}
      }
      socket.on('drain', pour)
      pour()
    })
    const { reachable, detail } = await probe(server.url, { timeoutMs: 5_000 })
    expect(reachable).toBe(false)
    expect(detail).toBe('the response headers are too large (UND_ERR_HEADERS_OVERFLOW)')
  })

  it.each([
    [
      Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
      /^TLS failed: self-signed certificate \(DEPTH_ZERO/,
    ],
    [
      Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }),
      /^TLS failed: certificate has expired/,
    ],
    [Object.assign(new Error('x'), { code: 'EHOSTUNREACH' }), /^no route to the host/],
    [
      Object.assign(new Error('odd\nthing '.repeat(100)), { code: 'EODD' }),
      /^odd thing .{50,120}… \(EODD\)$/,
    ],
    [new Error('bad port'), /^bad port$/],
    ['a string', /^fetch failed$/],
    [undefined, /^fetch failed$/],
  ])('and says shortly what happened, by the cause that fetch gives (%#)', async (cause, detail) => {
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }))
    const result = await probe('https://gate.example/e', { fetch })
    expect(result).toMatchObject({ reachable: false, detail: expect.stringMatching(detail) })
  })

  it('when the address is no address at all', async () => {
    expect(await probe('gate.example')).toMatchObject({
      reachable: false,
      detail: expect.stringMatching(/./),
    })
  })
})
