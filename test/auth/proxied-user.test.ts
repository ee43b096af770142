import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { readConfig } from '../../src/config.ts'
import { createSession, post } from '../support/ask.ts'
import { startServer, type TestServer } from '../support/server.ts'

const behindProxy = (proxy: string, header = 'X-Forwarded-User') =>
  startServer({ environment: { HOLDPOINT_TRUST_PROXY: proxy, HOLDPOINT_TRUSTED_USER_HEADER: header } })

const viewer = (server: TestServer, headers: Record<string, string>) =>
  server.rest('POST', '/graphql', { body: { query: '{ viewer { name role } }' }, headers })

const fromBrowser = { 'sec-fetch-site': 'same-origin' }

describe('a user that a trusted proxy names', () => {
  it('is known by name, and answers as a responder under that name', async () => {
    await using server = await behindProxy('127.0.0.1')
    const headers = { ...fromBrowser, 'x-forwarded-user': Buffer.from('Zoë', 'utf8').toString('latin1') }
    expect((await viewer(server, headers)).body.data.viewer).toEqual({ name: 'Zoë', role: 'RESPONDER' })
    const { body } = await post(server, (await createSession(server)).id)
    const path = `/api/v1/elicitations/${body.requestId}/respond`
    expect((await server.rest('PATCH', path, { body: { action_type: 'decline' }, headers })).status).toBe(200)
    const { elicitation } = await server.graphql(
      `query($r: String!) { elicitation(requestId: $r) { respondedBy { name } } }`,
      { r: body.requestId },
    )
    expect(elicitation.respondedBy.name).toBe('Zoë')
  })

  it('has the role that the configuration gives', async () => {
    await using server = await behindProxy('127.0.0.1', 'X-Forwarded-User=operator')
    expect((await viewer(server, { ...fromBrowser, 'x-forwarded-user': 'ada' })).body.data.viewer.role).toBe(
      'OPERATOR',
    )
  })

  it('is nobody when the request comes from elsewhere, over HTTP and over a socket', async () => {
    await using server = await behindProxy('192.0.2.1')
    expect((await viewer(server, { ...fromBrowser, 'x-forwarded-user': 'ada' })).status).toBe(401)
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { 'x-forwarded-user': 'ada' },
    })
    const code = await new Promise((resolve) => {
      socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init' })))
      socket.on('close', resolve)
    })
    expect(code).toBe(4401)
  })

  it('cannot be driven from a page of another site', async () => {
    await using server = await behindProxy('127.0.0.1')
    expect((await viewer(server, { 'sec-fetch-site': 'cross-site', 'x-forwarded-user': 'ada' })).status).toBe(
      403,
    )
  })
})

it('a user header without the addresses of the proxy stops the start', () => {
  for (const HOLDPOINT_TRUST_PROXY of [undefined, 'true']) {
    const result = readConfig(
      { HOLDPOINT_TRUSTED_USER_HEADER: 'X-Forwarded-User', HOLDPOINT_TRUST_PROXY },
      '/',
    )
    expect(result).toMatchObject({ ok: false, problems: [expect.stringContaining('HOLDPOINT_TRUST_PROXY')] })
  }
})
