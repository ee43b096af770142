import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createSession, post } from '../support/ask.ts'
import { boundKey, callTool, connectHttp } from '../support/mcp.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ environment: { HOLDPOINT_TRUST_PROXY: '127.0.0.1' } })
})
afterAll(() => server?.[Symbol.asyncDispose]())

interface Line {
  cursor: string
  type: string
  at: string
  actor: { kind: string; name: string | null; role: string | null }
  data: any
}

const auditLog = `query($first: Int, $after: String, $type: String, $actor: String, $since: DateTime, $until: DateTime) {
  auditLog(first: $first, after: $after, type: $type, actor: $actor, since: $since, until: $until) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { cursor type at actor { kind name role } data } } } }`

async function audit(filter: Record<string, unknown> = {}): Promise<Line[]> {
  const { auditLog: found } = await server.graphql(auditLog, { first: 100, ...filter })
  return found.edges.map(({ node }: { node: Line }) => node)
}

async function createKey(name: string, role: string): Promise<{ secret: string; id: string }> {
  const { createApiKey } = await server.graphql(
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { ... on CreateApiKeySuccess { secret apiKey { id } } } }',
    { input: { name, role } },
  )
  return { secret: createApiKey.secret, id: createApiKey.apiKey.id }
}

async function asked(): Promise<{ session: string; requestId: string }> {
  const session = await createSession(server)
  const { body } = await post(server, session.id)
  return { session: session.id, requestId: body.requestId }
}

const respond = (requestId: string, key: string, address: string) =>
  server.rest('PATCH', `/api/v1/elicitations/${requestId}/respond`, {
    key,
    body: { action_type: 'accept' },
    headers: { 'x-forwarded-for': address },
  })
const respondByGraphql = (requestId: string, key: string, address: string) =>
  server.rest('POST', '/graphql', {
    key,
    body: {
      query: `mutation { respondToElicitation(input: { requestId: "${requestId}", action: ACCEPT }) { __typename } }`,
    },
    headers: { 'x-forwarded-for': address },
  })
const signIn = (body: object, address: string) =>
  server.rest('POST', '/api/v1/sign-in', { body, headers: { 'x-forwarded-for': address } })

describe('the audit log', () => {
  it('says who answered, by which door, with which key and from where', async () => {
    const ada = await createKey('Ada', 'RESPONDER')
    const [first, second, third] = [await asked(), await asked(), await asked()]
    await respond(first.requestId, ada.secret, '192.0.2.10')
    await respondByGraphql(second.requestId, ada.secret, '192.0.2.11')
    const client = await connectHttp(server, ada.secret)
    await callTool(client, 'respond_to_elicitation', { request_id: third.requestId, action_type: 'accept' })
    await client.close()

    const lines = await audit({ type: 'elicitation.resolved', actor: 'Ada' })
    expect(lines.map(({ actor, data }) => ({ actor, data }))).toMatchObject(
      [
        { requestId: third.requestId, surface: 'mcp', address: '127.0.0.1' },
        { requestId: second.requestId, surface: 'graphql', address: '192.0.2.11' },
        { requestId: first.requestId, surface: 'rest', address: '192.0.2.10' },
      ].map((data) => ({
        actor: { kind: 'api-key', name: 'Ada', role: 'RESPONDER' },
        data: { ...data, status: 'accept', keyId: ada.id },
      })),
    )
  })

  it('has every refused attempt at an answer, on any surface, once a request and key', async () => {
    const eyes = await createKey('eyes only', 'VIEWER')
    const { session, requestId } = await asked()
    const own = await boundKey(server, session)
    const foreign = await boundKey(server, (await createSession(server)).id)
    for (const key of [eyes.secret, own, foreign])
      for (const attempt of [respond, respondByGraphql]) {
        await attempt(requestId, key, '192.0.2.20')
        await attempt(requestId, key, '192.0.2.20')
      }
    const client = await connectHttp(server, eyes.secret)
    const other = await asked()
    await callTool(client, 'respond_to_elicitation', { request_id: other.requestId, action_type: 'accept' })
    await client.close()

    const lines = await audit({ type: 'elicitation.answer_refused' })
    expect(lines.map(({ actor, data }) => [actor.name, data.code, data.surface, data.address])).toEqual([
      ['eyes only', 'FORBIDDEN', 'mcp', '127.0.0.1'],
      ['the agent', 'FORBIDDEN', 'rest', '192.0.2.20'],
      ['the agent', 'SELF_APPROVAL', 'rest', '192.0.2.20'],
      ['eyes only', 'FORBIDDEN', 'rest', '192.0.2.20'],
    ])
    expect(lines[0]!.data.keyId).toBe(eyes.id)
  })

  it('has the life of keys and of capability addresses', async () => {
    const { id } = await createKey('short-lived', 'LAUNCHER')
    const { rotateApiKey: rotated } = await server.graphql(
      'mutation($id: ID!) { rotateApiKey(id: $id) { ... on RotateApiKeySuccess { apiKey { id } replaced { id expiresAt } } } }',
      { id },
    )
    expect(rotated.replaced.id).toBe(id)
    await server.graphql('mutation($id: ID!) { revokeApiKey(id: $id) { __typename } }', { id })
    expect((await audit({ type: 'key' })).slice(0, 4)).toMatchObject([
      { type: 'key.revoked', actor: { name: 'admin' }, data: { name: 'short-lived', role: 'launcher' } },
      {
        type: 'key.rotated',
        actor: { name: 'admin' },
        data: { keyId: id, successorKeyId: rotated.apiKey.id, expiresAt: rotated.replaced.expiresAt },
      },
      { type: 'key.created', actor: { name: 'admin' }, data: { keyId: rotated.apiKey.id } },
      { type: 'key.created', actor: { name: 'admin' }, data: { keyId: id } },
    ])
    const session = await createSession(server)
    for (let i = 0; i < 2; i++)
      await server.graphql('mutation($s: ID!) { rotateGateToken(sessionId: $s) { __typename } }', {
        s: session.id,
      })
    const types = (await audit({ type: 'gate' })).map(({ type }) => type).slice(0, 3)
    expect(types).toEqual(['gate.token_created', 'gate.token_ended', 'gate.token_created'])
  })

  it('has sign-ins, sign-outs and the links that were handed out', async () => {
    const { headers } = await signIn({ key: adminKey }, '192.0.2.30')
    await server.rest('POST', '/api/v1/sign-out', {
      headers: {
        cookie: headers.get('set-cookie')!.split(';')[0]!,
        'sec-fetch-site': 'same-origin',
        'x-forwarded-for': '192.0.2.31',
      },
    })
    await signIn({ link: server.app.signInLink!.split('#')[1]! }, '192.0.2.32')
    const lines = await audit({ type: 'sign_in' })
    expect(lines.map(({ type, actor, data }) => [type, actor.name, data.by, data.address])).toEqual([
      ['sign_in.succeeded', 'admin', 'link', '192.0.2.32'],
      ['sign_in.ended', 'admin', undefined, '192.0.2.31'],
      ['sign_in.succeeded', 'admin', 'key', '192.0.2.30'],
      ['sign_in.link_created', null, undefined, undefined],
    ])
  })

  it('is read page by page, by type, by actor and by time', async () => {
    const { auditLog: first } = await server.graphql(auditLog, { first: 3 })
    expect(first.edges).toHaveLength(3)
    expect(first.totalCount).toBeGreaterThan(3)
    expect(first.pageInfo.hasNextPage).toBe(true)
    const { auditLog: second } = await server.graphql(auditLog, { first: 3, after: first.pageInfo.endCursor })
    const cursors = [...first.edges, ...second.edges].map(({ node }: any) => BigInt(node.cursor))
    expect(cursors).toEqual(cursors.toSorted((a, b) => Number(b - a)))
    expect(new Set(cursors).size).toBe(6)

    const all = await audit()
    const middle = all[Math.floor(all.length / 2)]!
    for (const { at } of await audit({ since: middle.at })) expect(at >= middle.at).toBe(true)
    for (const { at } of await audit({ until: middle.at })) expect(at < middle.at).toBe(true)
    expect((await audit({ since: middle.at })).length + (await audit({ until: middle.at })).length).toBe(
      all.length,
    )
    expect((await audit({ actor: 'mcp-server' })).every(({ actor }) => actor.kind === 'mcp-server')).toBe(
      true,
    )
    expect(await audit({ actor: 'nobody' })).toEqual([])
    expect(await audit({ type: 'elicit' })).toEqual([])
  })

  it('is for admins, and so are addresses and keys wherever an event is shown', async () => {
    const ada = await createKey('Bea', 'OPERATOR')
    const { body } = await server.graphqlRaw(auditLog, {}, ada.secret)
    expect(body.errors[0].extensions.code).toBe('FORBIDDEN')
    const { session, requestId } = await asked()
    await respond(requestId, ada.secret, '192.0.2.40')
    const seenBy = async (key: string) => {
      const { session: found } = await server.graphql(
        'query($id: ID!) { session(id: $id) { timeline(last: 9) { edges { node { type data } } } } }',
        { id: session },
        key,
      )
      return found.timeline.edges.find(({ node }: any) => node.type === 'elicitation.resolved').node.data
    }
    expect(await seenBy(adminKey)).toMatchObject({ surface: 'rest', address: '192.0.2.40', keyId: ada.id })
    const seen = await seenBy(ada.secret)
    expect(seen).toMatchObject({ surface: 'rest', status: 'accept' })
    expect(Object.keys(seen)).not.toContain('address')
    expect(Object.keys(seen)).not.toContain('keyId')
  })
})

describe('keys that are wrong', () => {
  const wrong = 'hp_12345678_a-wrong-key-that-nobody-made'

  it('are on the record for every surface, by address and number, and never the key itself', async () => {
    await using house = await startServer({ environment: { HOLDPOINT_TRUST_PROXY: '127.0.0.1' } })
    const session = await createSession(house)
    const { body } = await post(house, session.id)
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const attempts: Record<string, (address: string) => Promise<unknown>> = {
      'the answer over REST': (address) =>
        house.rest('PATCH', `/api/v1/elicitations/${body.requestId}/respond`, {
          key: wrong,
          body: { action_type: 'accept' },
          headers: from(address),
        }),
      'the withdrawal': (address) =>
        house.rest('DELETE', `/api/v1/elicitations/${body.requestId}`, {
          key: wrong,
          headers: from(address),
        }),
      'the creation, which needs no key': (address) =>
        house.rest('POST', '/api/v1/elicitations', { key: wrong, body: {}, headers: from(address) }),
      'the hook': (address) =>
        house.rest('POST', '/api/v1/hooks/claude-code', { key: wrong, body: {}, headers: from(address) }),
      notifications: (address) =>
        house.rest('GET', '/api/v1/notifications', { key: wrong, headers: from(address) }),
      'an operation': (address) =>
        house.rest('POST', '/graphql', {
          key: wrong,
          body: { query: '{ viewer { name } }' },
          headers: from(address),
        }),
      'a call over MCP': (address) =>
        house.rest('POST', '/mcp', { key: wrong, body: {}, headers: from(address) }),
      'a WebSocket': (address) =>
        new Promise((resolve, reject) => {
          const socket = new WebSocket(`${house.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
            headers: from(address),
          })
          socket.once('open', () =>
            socket.send(JSON.stringify({ type: 'connection_init', payload: { apiKey: wrong } })),
          )
          socket.once('close', resolve)
          socket.once('error', reject)
        }),
    }
    const names = Object.keys(attempts)
    for (const [index, name] of names.entries()) await attempts[name]!(`192.0.2.${index}`)
    const { auditLog: found } = await house.graphql(auditLog, { first: 100, type: 'key.refused' })
    const lines: Line[] = found.edges.map(({ node }: { node: Line }) => node)
    expect(lines.map(({ data }) => [data.address, data.attempts]).toSorted()).toEqual(
      names.map((_, index) => [`192.0.2.${index}`, 1]),
    )
    expect(JSON.stringify(lines)).not.toContain(wrong.slice(0, 12))
    expect(house.logLines.join()).not.toContain(wrong)
  })

  it('are counted, and strangers cannot grow the log; no key at all is no attempt', async () => {
    await using house = await startServer({ environment: { HOLDPOINT_TRUST_PROXY: '127.0.0.1' } })
    const fail = (address: string, key: string | null = wrong) =>
      house.rest('POST', '/graphql', {
        key,
        body: { query: '{ viewer { name } }' },
        headers: { 'x-forwarded-for': address },
      })
    await fail('192.0.2.60', null)
    for (let i = 0; i < 25; i++) await fail('192.0.2.61')
    for (let i = 0; i < 60; i++) await fail(`198.51.100.${i}`)
    const { connectionString } = house
    await house.app.close()
    await using next = await startServer({ connectionString })
    const { auditLog: found } = await next.graphql(auditLog, { first: 100, type: 'key.refused' })
    const data: { address: string | null; attempts: number }[] = found.edges.map(({ node }: any) => node.data)
    expect(data.reduce((sum, each) => sum + each.attempts, 0)).toBe(25 + 60)
    expect(data.some(({ address }) => address === '192.0.2.60')).toBe(false)
    // A line at once and one with the rest, for each of twenty and for all others; twice that where a minute ended in between.
    expect(data.length).toBeLessThanOrEqual(2 * 2 * 21)
  })
})

describe('sign-ins that fail', () => {
  it('are counted, the first of an address at once, and strangers cannot grow the log', async () => {
    await using house = await startServer({ environment: { HOLDPOINT_TRUST_PROXY: '127.0.0.1' } })
    const fail = (address: string) =>
      house.rest('POST', '/api/v1/sign-in', {
        body: { key: 'not-a-key' },
        headers: { 'x-forwarded-for': address },
      })
    const failures = async (from: Pick<TestServer, 'graphql'>): Promise<any[]> =>
      (await from.graphql(auditLog, { first: 100, type: 'sign_in.failed' })).auditLog.edges.map(
        ({ node }: any) => node.data,
      )
    for (let i = 0; i < 12; i++) await fail('192.0.2.50')
    expect(await failures(house)).toMatchObject([{ address: '192.0.2.50', attempts: 1 }])
    for (let i = 0; i < 100; i++) await fail(`198.51.100.${i}`)
    // Twenty with a line of their own, and one line for all others; twice that where a minute ended in between.
    expect((await failures(house)).length).toBeLessThanOrEqual(2 * 21)

    const { connectionString } = house
    await house.app.close()
    await using next = await startServer({ connectionString })
    const found = await failures(next)
    const attempts = found.reduce((sum, each) => sum + each.attempts, 0)
    // Ten a minute are looked at; what the first address tried after that was turned away before.
    expect(attempts).toBeGreaterThanOrEqual(10 + 100)
    expect(found.length).toBeLessThan(2 * 21 + 2 * 21)
    expect(found.filter(({ address }) => address === null)).not.toEqual([])
  })
})
