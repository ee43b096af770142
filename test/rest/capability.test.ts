import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTenantsServer } from '../../demo/tenants-server.ts'
import { createSession, post, requestId } from '../support/ask.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'

const start = (access: string) => startServer({ environment: { HOLDPOINT_GATE_ACCESS: access } })

let capability: TestServer
let mixed: TestServer
beforeAll(async () => {
  capability = await start('capability')
  mixed = await start('mixed')
})
afterAll(async () => {
  await capability?.[Symbol.asyncDispose]()
  await mixed?.[Symbol.asyncDispose]()
})

async function addressFor(server: TestServer, sessionId: string): Promise<string> {
  const { rotateGateToken } = await server.graphql(
    `mutation($s: ID!) { rotateGateToken(sessionId: $s) { ... on RotateGateTokenSuccess { gateToken { url } } } }`,
    { s: sessionId },
  )
  return new URL(rotateGateToken.gateToken.url).pathname
}

describe('a capability address', () => {
  it('is handed out by a launch, one for each server, and carries the unmodified client to its end', async () => {
    const server = capability
    const session = await createSession(server)
    const { prepareLaunch } = await server.graphql(
      `mutation($input: PrepareLaunchInput!) { prepareLaunch(input: $input) { ... on PrepareLaunchSuccess { env { name value } mcpConfig } } }`,
      {
        input: {
          sessionId: session.id,
          runtime: 'CLAUDE_CODE',
          mcpConfig: {
            format: 'JSON',
            text: JSON.stringify({ mcpServers: { tenants: { command: 'x', env: {} } } }),
          },
        },
      },
    )
    const environment = JSON.parse(prepareLaunch.mcpConfig).mcpServers.tenants.env
    expect(environment.ELICITATION_REQUEST_URL).toMatch(/\/api\/v1\/gate\/[\w-]{32}\/elicitations$/)
    expect(environment.ELICITATION_REQUEST_URL).not.toBe(
      prepareLaunch.env.find(({ name }: any) => name === 'ELICITATION_REQUEST_URL').value,
    )
    await using mcp = await startTenantsServer(environment)
    const result = mcp.call('delete_tenant', { id_or_slug: 'acme' })
    const pending = async () =>
      (
        await server.graphql(
          `query($id: ID!) { session(id: $id) { pendingElicitations { id serverName } } }`,
          { id: session.id },
        )
      ).session.pendingElicitations
    await expect.poll(async () => (await pending()).length, { timeout: 20_000 }).toBe(1)
    const [request] = await pending()
    expect(request.serverName).toBe('tenants')
    await server.rest('PATCH', `/api/v1/elicitations/${request.id}/respond`, {
      key: adminKey,
      body: { action_type: 'accept' },
    })
    expect(await result).toContain('Tenant deleted.')
    expect(server.logLines.join('')).not.toContain(environment.ELICITATION_REQUEST_URL.split('/')[6])
  })

  it('decides the session, whatever the request names', async () => {
    const server = mixed
    const [mine, other] = [await createSession(server), await createSession(server)]
    const address = await addressFor(server, mine.id)
    const { status, body } = await post(server, other.id, {}, address)
    expect(status).toBe(201)
    expect(body._meta['com.pulsemcp/poll-url']).toBe(`${server.url}${address}/${body.requestId}`)
    const { elicitation } = await server.graphql(
      `query($r: String!) { elicitation(requestId: $r) { session { id } } }`,
      { r: body.requestId },
    )
    expect(elicitation.session.id).toBe(mine.id)
    expect(
      server.logLines.some((line) => JSON.parse(line).level === 40 && line.includes('another session')),
    ).toBe(true)
  })

  it('keeps its requests from the plain address and from other sessions', async () => {
    const server = mixed
    const [mine, other] = [await createSession(server), await createSession(server)]
    const [address, foreign] = [await addressFor(server, mine.id), await addressFor(server, other.id)]
    const { body } = await post(server, mine.id, {}, address)
    const get = (path: string) => server.rest('GET', `${path}/${body.requestId}?wait=0`)
    expect((await get(address)).status).toBe(200)
    const unknown = await server.rest('GET', `${foreign}/${requestId()}?wait=0`)
    for (const path of [foreign, '/api/v1/elicitations'])
      expect(await get(path)).toMatchObject({ status: 404, body: unknown.body })
    expect(
      (await server.rest('GET', `/api/v1/gate/${'x'.repeat(32)}/elicitations/${body.requestId}?wait=0`))
        .status,
    ).toBe(404)
  })

  it('creates nothing more once it has ended, and still hands its waiting client the cancel', async () => {
    const server = capability
    const session = await createSession(server)
    const address = await addressFor(server, session.id)
    const { body } = await post(server, session.id, {}, address)
    await server.graphql(`mutation($id: ID!) { archiveSession(id: $id) { __typename } }`, { id: session.id })
    expect((await server.rest('GET', `${address}/${body.requestId}?wait=0`)).body).toMatchObject({
      action: 'cancel',
    })
    expect((await post(server, session.id, {}, address)).status).toBe(403)
  })

  it('that has ended still answers the same request again, whose first response was lost', async () => {
    const server = capability
    const session = await createSession(server)
    const address = await addressFor(server, session.id)
    const { body } = await post(server, session.id, {}, address)
    await server.graphql(`mutation($id: ID!) { archiveSession(id: $id) { __typename } }`, { id: session.id })
    const again = () => post(server, session.id, { id: body.requestId }, address)
    expect(await again()).toMatchObject({ status: 200, body })
    expect((await server.rest('GET', `${address}/${body.requestId}?wait=0`)).body.action).toBe('cancel')
    expect(await again()).toMatchObject({ status: 422, body: { code: 'REQUEST_ID_TAKEN' } })
  })

  it('and the plain one do not replay each other’s requests, as they would not poll them', async () => {
    const server = mixed
    const session = await createSession(server)
    const address = await addressFor(server, session.id)
    const { body } = await post(server, session.id, {}, address)
    expect(await post(server, session.id, { id: body.requestId })).toMatchObject({
      status: 422,
      body: { code: 'REQUEST_ID_TAKEN' },
    })
  })

  it('knows what was created on it, and nothing of another address of its session', async () => {
    const server = mixed
    const session = await createSession(server)
    const [mine, other] = [await addressFor(server, session.id), await addressFor(server, session.id)]
    // The first one has ended with the second.
    const { body } = await post(server, session.id, {}, other)
    const at = (path: string, method: string, headers = {}) =>
      server.rest(method, `${path}/${body.requestId}?wait=0`, { headers })
    for (const path of [mine, '/api/v1/elicitations'])
      for (const method of ['GET', 'DELETE']) expect((await at(path, method)).status).toBe(404)
    const proof = { 'holdpoint-withdraw': body._meta['holdpoint/withdraw'] }
    expect((await at('/api/v1/elicitations', 'DELETE', proof)).status).toBe(404)
    expect(await post(server, session.id, { id: body.requestId }, mine)).not.toMatchObject({ status: 200 })
    expect((await at(other, 'GET')).body.action).toBe('pending')
    // A person's key is good at every address.
    const key = { 'x-api-key': adminKey }
    expect((await at('/api/v1/elicitations', 'DELETE', key)).body.action).toBe('cancel')
  })

  it('is the only kind there is in capability mode: the plain one says so, whatever it is asked for', async () => {
    const server = capability
    const session = await createSession(server)
    const address = await addressFor(server, session.id)
    const { body } = await post(server, session.id, {}, address)
    for (const id of [body.requestId, 'unknown'])
      for (const method of ['GET', 'DELETE'])
        expect(await server.rest(method, `/api/v1/elicitations/${id}?wait=0`)).toMatchObject({
          status: 403,
          body: { code: 'CAPABILITY_REQUIRED' },
        })
  })

  it('withdraws by itself', async () => {
    const server = capability
    const session = await createSession(server)
    const address = await addressFor(server, session.id)
    const { body } = await post(server, session.id, {}, address)
    expect(await server.rest('DELETE', `${address}/${body.requestId}`)).toMatchObject({
      status: 200,
      body: { action: 'cancel' },
    })
  })
})

it('the caller’s address is told of what came in on the plain address, and to nobody whose key is bound', async () => {
  const server = mixed
  const session = await createSession(server)
  const { createApiKey } = await server.graphql(
    `mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { ... on CreateApiKeySuccess { secret } } }`,
    { input: { name: 'bound', role: 'VIEWER', sessionId: session.id } },
  )
  const bound = createApiKey.secret
  const plain = (await post(server, session.id)).body.requestId
  const capable = (await post(server, session.id, {}, await addressFor(server, session.id))).body.requestId
  const keyed = requestId()
  const asked = await server.rest('POST', '/api/v1/elicitations', {
    key: bound,
    body: { message: 'Go?', _meta: { 'com.pulsemcp/request-id': keyed } },
  })
  expect(asked.status).toBe(201)
  const addressOf = async (r: string, key?: string) =>
    (await server.graphql(`query($r: String!) { elicitation(requestId: $r) { callerAddress } }`, { r }, key))
      .elicitation.callerAddress
  expect(await addressOf(plain)).toBe('127.0.0.1')
  expect(await addressOf(plain, bound)).toBeNull()
  expect(await addressOf(capable)).toBeNull()
  expect(await addressOf(keyed)).toBeNull()
})

it('in capability mode the plain address takes nothing new and says which variable to look at', async () => {
  const server = capability
  const refused = await post(server, (await createSession(server)).id)
  expect(refused).toMatchObject({ status: 403, body: { code: 'CAPABILITY_REQUIRED' } })
  expect(refused.body.message).toContain('ELICITATION_REQUEST_URL')
})
