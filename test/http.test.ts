import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from './support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

it('closes the connection of whoever asks for that, as some clients read until the end', async () => {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 .*\r\nConnection: close\r\n/is)
})

it('refuses an address that is not well-formed in the envelope of every other error', async () => {
  expect(await server.rest('GET', '/api/v1/elicitations/%zz')).toMatchObject({
    status: 400,
    body: {
      code: 'BAD_REQUEST',
      error: expect.any(String),
      message: expect.any(String),
      messages: [expect.any(String)],
    },
  })
})
