import { fastifyCookie } from '@fastify/cookie'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { revokeKey } from '../../src/auth/keys.ts'
import { signInBrowser } from '../../src/auth/sign-in.ts'
import { systemActor } from '../../src/events/event.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

let server: GraphqlServer
beforeAll(async () => {
  server = await startGraphql()
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

const viewer = { query: '{ viewer { name } }' }
const typename = { query: '{ __typename }' }

async function cookieOf(keyId: string): Promise<string> {
  const { token } = (await signInBrowser(server.journal, keyId))!
  return `holdpoint=${encodeURIComponent(fastifyCookie.sign(token, 'a secret for tests'))}`
}

describe('over HTTP', () => {
  test.each([
    ['no key', {}],
    ['an unknown key', { 'x-api-key': 'hp_12345678_unknown' }],
    ['an empty key', { 'x-api-key': '' }],
    ['an unknown bearer token', { authorization: 'Bearer hp_12345678_unknown' }],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['a forged cookie', { cookie: 'holdpoint=forged.signature' }],
    ['a key of a thousand characters', { 'x-api-key': 'k'.repeat(1_000) }],
  ])('%s is a 401 with a GraphQL error, before anything runs', async (_what, headers) => {
    for (const body of [viewer, typename, 'not even JSON', { query: '{ __schema { types { name } } }' }]) {
      const { status, body: answer } = await server.post(body, headers as Record<string, string>)
      expect(status).toBe(401)
      expect(answer).toEqual({
        errors: [{ message: expect.any(String), extensions: { code: 'UNAUTHENTICATED' } }],
      })
    }
  })

  test('a revoked key and an expired one are a 401', async () => {
    const revoked = await server.key({ role: 'viewer' })
    expect((await server.post(viewer, { 'x-api-key': revoked.secret })).status).toBe(200)
    await revokeKey(server.journal, revoked.id, systemActor)
    await server.tail.caughtUp()
    expect((await server.post(viewer, { 'x-api-key': revoked.secret })).status).toBe(401)

    const expired = await server.key({ role: 'viewer', expiresAt: new Date(Date.now() + 3_600_000) })
    await server.database.pool.query(`update api_key set expires_at = now() where id = $1`, [expired.id])
    expect((await server.post(viewer, { 'x-api-key': expired.secret })).status).toBe(401)
  })

  test('a key in either header is taken, and names who asks', async () => {
    const { secret } = await server.key({ role: 'viewer', name: 'the bot' })
    const either: Record<string, string>[] = [{ 'x-api-key': secret }, { authorization: `Bearer ${secret}` }]
    for (const headers of either) {
      const { body } = await server.post({ query: '{ viewer { name role sessionId } }' }, headers)
      expect(body).toEqual({ data: { viewer: { name: 'the bot', role: 'VIEWER', sessionId: null } } })
    }
  })

  test('introspection works with a key', async () => {
    const { __schema } = await server.run('{ __schema { queryType { name } } }')
    expect(__schema.queryType.name).toBe('Query')
  })

  test('a signed-in browser may ask from a page of this server, and from no other', async () => {
    const { id } = await server.key({ role: 'viewer' })
    const cookie = await cookieOf(id)
    const own = { cookie, 'sec-fetch-site': 'same-origin' }
    expect((await server.post(viewer, own)).body.data.viewer.name).toBe('a viewer')
    const foreign: Record<string, string>[] = [
      {},
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.test' },
    ]
    for (const headers of foreign) {
      const { status, body } = await server.post(viewer, { cookie, ...headers })
      expect(status).toBe(403)
      expect(body.errors[0].extensions.code).toBe('FORBIDDEN')
    }
  })

  test('an answer given in a browser says that it came from the dashboard', async () => {
    const { id } = await server.key({ role: 'responder', name: 'Somebody' })
    const session = await server.session()
    const { elicitation } = await server.elicit(session.id)
    const { body } = await server.post(
      {
        query: `mutation($id: ID!) { respondToElicitation(input: { id: $id, action: DECLINE }) {
          ... on RespondToElicitationSuccess { elicitation { respondedBy { name surface } } } } }`,
        variables: { id: elicitation.id },
      },
      { cookie: await cookieOf(id), 'sec-fetch-site': 'same-origin' },
    )
    expect(body.data.respondToElicitation.elicitation.respondedBy).toEqual({
      name: 'Somebody',
      surface: 'dashboard',
    })
  })

  test('pages of other sites are not told that they may read', async () => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.test' },
    })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    const answer = await server.post(viewer, { origin: 'https://evil.test', 'x-api-key': server.adminKey })
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('GraphiQL is there in development only', async () => {
    const page = (url: string) => fetch(`${url}/graphql`, { headers: { accept: 'text/html' } })
    expect((await page(server.url)).status).toBe(401)
    await using development = await startGraphql({ development: true })
    const response = await page(development.url)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toContain('text/html')
    await response.text()
    expect(
      (await fetch(`${development.url}/graphql?query={viewer{name}}`, { headers: { accept: 'text/html' } }))
        .status,
    ).toBe(401)
  })
})

interface Opened {
  code: number | null
  message: Record<string, unknown> | null
}

/** What becomes of a socket that says hello with this payload: acknowledged, or closed with a code. */
function open(payload: unknown, headers: Record<string, string> = {}, path = '/graphql'): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}`, 'graphql-transport-ws', {
      headers,
    })
    socket.once('error', reject)
    socket.once('open', () =>
      socket.send(JSON.stringify({ type: 'connection_init', ...(payload === undefined ? {} : { payload }) })),
    )
    socket.once('message', (data) => {
      resolve({ code: null, message: JSON.parse(String(data)) })
      socket.close()
    })
    socket.once('close', (code) => resolve({ code, message: null }))
  })
}

describe('over WebSocket', () => {
  test('a key in connection_init is acknowledged, as apiKey or as authorization', async () => {
    for (const payload of [
      { apiKey: server.adminKey },
      { authorization: `Bearer ${server.adminKey}` },
      { Authorization: `bearer ${server.adminKey}` },
    ])
      expect((await open(payload)).message).toEqual({ type: 'connection_ack' })
  })

  test('so is the cookie of the page that opens it, and a key in the headers', async () => {
    const { id } = await server.key({ role: 'viewer' })
    expect((await open(undefined, { cookie: await cookieOf(id), origin: server.url })).message?.type).toBe(
      'connection_ack',
    )
    expect((await open(undefined, { 'x-api-key': server.adminKey })).message?.type).toBe('connection_ack')
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty payload', {}],
    ['an empty key', { apiKey: '' }],
    ['a wrong key', { apiKey: 'hp_12345678_wrong' }],
    ['a key that is no text', { apiKey: { toString: 'x' } }],
    ['an authorization of another scheme', { authorization: 'Basic YTpi' }],
    ['a wrong key beside a good cookie', { apiKey: 'wrong' }],
  ])('%s is closed with 4401', async (what, payload) => {
    const { id } = await server.key({ role: 'viewer' })
    const headers: Record<string, string> = what.includes('cookie') ? { cookie: await cookieOf(id) } : {}
    expect((await open(payload, headers)).code).toBe(4401)
  })

  test('a page of a foreign origin opens no socket; one of PUBLIC_URL does', async () => {
    const payload = { apiKey: server.adminKey }
    for (const origin of ['https://evil.test', 'null', 'http://127.0.0.1:1', `${server.url}.evil.test`])
      await expect(open(payload, { origin })).rejects.toThrow('403')
    expect((await open(payload, { origin: 'http://holdpoint.test' })).message?.type).toBe('connection_ack')
  })

  test('another address opens no socket', async () => {
    await expect(open({}, {}, '/')).rejects.toThrow('404')
    await expect(open({}, {}, '//')).rejects.toThrow('404')
    await expect(open({}, {}, '/graphqlx')).rejects.toThrow('404')
  })

  test('an operation before connection_init is closed with 4401', async () => {
    const code = await new Promise((resolve, reject) => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
      socket.once('error', reject)
      socket.once('open', () =>
        socket.send(
          JSON.stringify({ type: 'subscribe', id: '1', payload: { query: '{ viewer { name } }' } }),
        ),
      )
      socket.once('close', resolve)
    })
    expect(code).toBe(4401)
  })

  test('a key that is revoked closes its sockets with 4403, and no others', async () => {
    const { secret, id } = await server.key({ role: 'viewer' })
    const closed = Promise.withResolvers<{ code: number }>()
    const theirs = server.websocket({
      lazy: false,
      connectionParams: { apiKey: secret },
      on: { closed: (event) => closed.resolve(event as { code: number }) },
    })
    const connected = Promise.withResolvers<void>()
    const others = server.websocket({ lazy: false, on: { connected: () => connected.resolve() } })
    await connected.promise
    const results = theirs.iterate({ query: 'subscription { timeline { cursor } }' })
    const first = results.next()
    await expect.poll(() => server.fanout.size).toBe(2)
    await server.session()
    await first
    await revokeKey(server.journal, id, systemActor)
    expect((await closed.promise).code).toBe(4403)
    const still = await others.iterate({ query: '{ viewer { name } }' }).next()
    expect(still.value.data.viewer.name).toBe('an admin')
    await theirs.dispose()
    await others.dispose()
  })
})

describe('whoever stays connected', () => {
  test('is sent away when the key expires, or the browser signs out', async () => {
    await using server = await startGraphql({ checkEveryMs: 20 })
    const expiring = await server.key({ role: 'viewer', expiresAt: new Date(Date.now() + 3_600_000) })
    const lasting = await server.key({ role: 'viewer' })
    const { token } = (await signInBrowser(server.journal, lasting.id))!
    const cookie = `holdpoint=${encodeURIComponent(fastifyCookie.sign(token, 'a secret for tests'))}`

    const socket = (headers: Record<string, string>, payload: object) => {
      const opened = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
        headers,
      })
      const acknowledged = new Promise((resolve) => opened.once('message', resolve))
      const code = new Promise((resolve) => opened.once('close', resolve))
      opened.once('open', () => opened.send(JSON.stringify({ type: 'connection_init', payload })))
      return { opened, acknowledged, code }
    }
    const byKey = socket({}, { apiKey: expiring.secret })
    const byCookie = socket({ cookie, origin: server.url }, {})
    const untouched = socket({}, { apiKey: lasting.secret })
    await Promise.all([byKey, byCookie, untouched].map(({ acknowledged }) => acknowledged))
    const stream = server.sse(expiring.secret).iterate({ query: 'subscription { timeline { cursor } }' })
    const over = stream.next()
    await expect.poll(() => server.fanout.size).toBe(2)

    await server.database.pool.query('update api_key set expires_at = now() where id = $1', [expiring.id])
    await server.database.pool.query('update sign_in set ended_at = now()')
    server.services.authenticator.forget(expiring.id)
    server.services.authenticator.forget(lasting.id)
    expect(await byKey.code).toBe(4403)
    expect(await byCookie.code).toBe(4403)
    expect((await over).done).toBe(true)
    expect(untouched.opened.readyState).toBe(WebSocket.OPEN)
    untouched.opened.close()
  })
})
