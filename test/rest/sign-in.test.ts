import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminKey, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ environment: { HOLDPOINT_TRUST_PROXY: '127.0.0.1' } })
})
afterAll(() => server[Symbol.asyncDispose]())

let caller = 0
const signIn = (body: unknown, headers: Record<string, string> = {}) =>
  server.rest('POST', '/api/v1/sign-in', {
    body,
    headers: { 'x-forwarded-for': `192.0.2.${++caller}`, ...headers },
  })
const cookieOf = (headers: Headers) => headers.get('set-cookie')!.split(';')[0]!
const viewer = (cookie: string, headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' }) =>
  server.rest('POST', '/graphql', {
    body: { query: '{ viewer { name role } }' },
    headers: { cookie, ...headers },
  })

describe('signing in', () => {
  it('with a key keeps an HttpOnly, SameSite=Strict cookie that is worth the key', async () => {
    const { status, body, headers } = await signIn({ key: adminKey })
    expect(status).toBe(200)
    expect(body).toEqual({ name: 'admin', role: 'admin' })
    const cookie = headers.get('set-cookie')!
    expect(cookie).toMatch(/HttpOnly/i)
    expect(cookie).toMatch(/SameSite=Strict/i)
    expect(cookie).not.toContain(adminKey)
    expect((await viewer(cookieOf(headers))).body.data.viewer).toEqual({ name: 'admin', role: 'ADMIN' })
  })

  it('with a link works once', async () => {
    const link = server.app.signInLink!.split('#')[1]!
    const first = await signIn({ link })
    expect(first.status).toBe(200)
    expect((await viewer(cookieOf(first.headers))).status).toBe(200)
    expect(await signIn({ link })).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } })
  })

  it('refuses a wrong key, a key of an agent, and anything else', async () => {
    expect((await signIn({ key: 'not-a-key' })).status).toBe(401)
    const { createSession } = await server.graphql(
      `mutation { createSession(input: { title: "s" }) { ... on CreateSessionSuccess { session { id } } } }`,
    )
    const { createApiKey } = await server.graphql(
      `mutation($s: ID!) { createApiKey(input: { name: "agent", role: VIEWER, sessionId: $s }) { ... on CreateApiKeySuccess { secret } } }`,
      { s: createSession.session.id },
    )
    expect((await signIn({ key: createApiKey.secret })).status).toBe(401)
    expect((await signIn({})).status).toBe(422)
    expect((await signIn({ key: adminKey }, { origin: 'https://evil.example' })).status).toBe(403)
  })

  it('ends with the sign-out, and with the revocation of the key', async () => {
    const { createApiKey } = await server.graphql(
      `mutation { createApiKey(input: { name: "ada", role: RESPONDER }) { ... on CreateApiKeySuccess { secret apiKey { id } } } }`,
    )
    const first = cookieOf((await signIn({ key: createApiKey.secret })).headers)
    const second = cookieOf((await signIn({ key: createApiKey.secret })).headers)
    await server.rest('POST', '/api/v1/sign-out', {
      headers: { cookie: first, 'sec-fetch-site': 'same-origin' },
    })
    expect((await viewer(first)).status).toBe(401)
    expect((await viewer(second)).status).toBe(200)
    await server.graphql(`mutation($id: ID!) { revokeApiKey(id: $id) { __typename } }`, {
      id: createApiKey.apiKey.id,
    })
    await expect.poll(async () => (await viewer(second)).status).toBe(401)
  })
})

describe('a signed-in browser', () => {
  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a sister site', { 'sec-fetch-site': 'same-site' }],
    ['no proof at all', {}],
  ])('cannot be driven from %s', async (_, headers) => {
    const cookie = cookieOf((await signIn({ key: adminKey })).headers)
    expect((await viewer(cookie, headers)).status).toBe(403)
    const answer = await server.rest('PATCH', '/api/v1/elicitations/anything/respond', {
      body: { action_type: 'accept' },
      headers: { cookie, ...headers },
    })
    expect(answer).toMatchObject({ status: 403, body: { code: 'CROSS_SITE' } })
  })

  it('cannot forge a cookie', async () => {
    const cookie = cookieOf((await signIn({ key: adminKey })).headers)
    expect((await viewer(`${cookie}x`)).status).toBe(401)
    expect((await viewer('holdpoint=abc')).status).toBe(401)
  })
})
