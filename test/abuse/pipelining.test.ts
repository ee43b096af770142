import { expect, it } from 'vitest'
import { createSession, requestId } from '../support/ask.ts'
import { adminKey, startServer } from '../support/server.ts'
import { openWire } from './support/wire.ts'

it('answers on one connection stay apart, also where a request in the middle asks whether it may go on', async () => {
  await using server = await startServer()
  const { id: session } = await createSession(server)
  const { host, port } = new URL(server.url)
  const post = (path: string, document: object, headers = '') => {
    const body = JSON.stringify(document)
    return `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
  }
  const question = {
    message: 'Go?',
    _meta: { 'com.pulsemcp/request-id': requestId(), 'com.pulsemcp/session-id': session },
  }
  const wire = await openWire(Number(port))
  wire.write(
    Buffer.from(
      post('/api/v1/elicitations', question) +
        post(
          '/graphql',
          { query: '{ viewer { name } }' },
          `X-API-Key: ${adminKey}\r\nExpect: 100-continue\r\n`,
        ) +
        `GET /livez HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    ),
  )
  const next = async () => {
    const answer = await wire.receive({ withoutBody: false, withinMs: 10_000 })
    if (answer === null || answer === 'silent') throw new Error(`no answer: ${answer}`)
    return [answer.status, JSON.parse(answer.body)]
  }
  expect(await next()).toMatchObject([201, { action: 'pending' }])
  expect(await next()).toEqual([200, { data: { viewer: { name: 'admin' } } }])
  expect(await next()).toEqual([200, { alive: true }])
  wire.drop()
})
