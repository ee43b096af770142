import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTenantsServer, type TenantsServer } from '../../demo/tenants-server.ts'
import { createSession, type TestSession } from '../support/ask.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'

/** Moved by hand; the client's own fuse runs on real time and is much longer than a test. */
const clock = { aheadMs: 0 }
let server: TestServer
beforeAll(async () => {
  server = await startServer({
    now: () => new Date(Date.now() + clock.aheadMs),
    environment: { HOLDPOINT_POLL_HOLD_SECONDS: '1' },
  })
})
afterAll(() => server[Symbol.asyncDispose]())

describe('a real MCP server with the unmodified client', () => {
  it('carries on after an accept', async () => {
    const session = await createSession(server)
    await using mcp = await startFor(session)
    const result = mcp.call('delete_tenant', { id_or_slug: 'acme' })
    const request = await pendingOf(session)
    expect(request).toMatchObject({
      toolName: 'delete_tenant',
      message: expect.stringContaining('PERMANENTLY DELETE'),
      form: { confirmation: 'confirm' },
      session: { status: 'NEEDS_INPUT', blockedOnElicitation: true },
    })
    await respond(request.id, 'ACCEPT')
    expect(await result).toContain('Tenant deleted.')
    expect(mcp.calls).toHaveLength(1)
    expect(await stateOf(session)).toEqual({ status: 'RUNNING', blockedOnElicitation: false })
    expect(await deliveredAt(request.id)).not.toBeNull()
  })

  it.each(['DECLINE', 'CANCEL'] as const)('does nothing after a %s', async (action) => {
    const session = await createSession(server)
    await using mcp = await startFor(session)
    const result = mcp.call('delete_tenant', { id_or_slug: 'acme' })
    await respond((await pendingOf(session)).id, action)
    expect(await result).toContain('cancelled by the user')
    expect(mcp.calls).toEqual([])
  })

  it('does nothing after an accept that says no', async () => {
    const session = await createSession(server)
    await using mcp = await startFor(session)
    const result = mcp.call('delete_tenant', { id_or_slug: 'acme' })
    await respond((await pendingOf(session)).id, 'ACCEPT', { confirm: false })
    expect(await result).toContain('was not confirmed')
    expect(mcp.calls).toEqual([])
  })

  it('is told expired at the deadline, and the session says so', async () => {
    const session = await createSession(server)
    await using mcp = await startFor(session)
    const result = mcp.call('delete_tenant', { id_or_slug: 'acme' })
    const request = await pendingOf(session)
    clock.aheadMs += 25 * 60 * 60_000
    expect(await result).toContain('expired')
    expect(mcp.calls).toEqual([])
    const { session: seen } = await server.graphql(
      `query($id: ID!) { session(id: $id) { status lostElicitation { reason requestId } } }`,
      { id: session.id },
    )
    expect(seen).toEqual({
      status: 'RUNNING',
      lostElicitation: { reason: 'EXPIRED', requestId: request.requestId },
    })
  })

  it('has two questions open at once, and each gets its own answer', async () => {
    const session = await createSession(server)
    await using mcp = await startFor(session)
    const first = mcp.call('delete_tenant', { id_or_slug: 'first' })
    const second = mcp.call('delete_tenant', { id_or_slug: 'second' })
    await expect.poll(async () => (await pending(session)).length, { timeout: 20_000 }).toBe(2)
    const requests = await pending(session)
    const about = (name: string) =>
      requests.find(({ message }: { message: string }) => message.includes(name)).id
    await respond(about('second'), 'ACCEPT')
    expect(await second).toContain('Tenant deleted.')
    expect(await stateOf(session)).toEqual({ status: 'NEEDS_INPUT', blockedOnElicitation: true })
    await respond(about('first'), 'DECLINE')
    expect(await first).toContain('cancelled by the user')
    expect(mcp.calls).toHaveLength(1)
    expect(await stateOf(session)).toEqual({ status: 'RUNNING', blockedOnElicitation: false })
  })
})

it('a request that was answered before its first poll is delivered by that poll', async () => {
  const session = await createSession(server)
  const created = await server.rest('POST', '/api/v1/elicitations', {
    body: {
      message: 'Go?',
      _meta: { 'com.pulsemcp/request-id': 'before-the-poll', 'com.pulsemcp/session-id': session.id },
    },
  })
  expect(created.status).toBe(201)
  await server.rest('PATCH', '/api/v1/elicitations/before-the-poll/respond', {
    key: adminKey,
    body: { action_type: 'accept' },
  })
  expect((await server.rest('GET', '/api/v1/elicitations/before-the-poll')).body).toMatchObject({
    action: 'accept',
  })
})

function startFor(session: TestSession): Promise<TenantsServer> {
  return startTenantsServer({
    ELICITATION_REQUEST_URL: `${server.url}/api/v1/elicitations`,
    ELICITATION_POLL_URL: `${server.url}/api/v1/elicitations`,
    ELICITATION_PREFER_HTTP_FALLBACK: 'true',
    ELICITATION_TTL_MS: String(24 * 60 * 60_000),
    ELICITATION_SESSION_ID: session.id,
  })
}

async function pending(session: TestSession) {
  const { session: found } = await server.graphql(
    `query($id: ID!) { session(id: $id) { pendingElicitations {
      id requestId toolName message form { confirmation } session { status blockedOnElicitation } } } }`,
    { id: session.id },
  )
  return found.pendingElicitations
}

async function pendingOf(session: TestSession) {
  await expect.poll(async () => (await pending(session)).length, { timeout: 20_000 }).toBe(1)
  return (await pending(session))[0]
}

async function respond(id: string, action: string, content?: object): Promise<void> {
  const { respondToElicitation } = await server.graphql(
    `mutation($input: RespondToElicitationInput!) { respondToElicitation(input: $input) { __typename ... on UserError { message } } }`,
    { input: { id, action, content } },
  )
  expect(respondToElicitation).toEqual({ __typename: 'RespondToElicitationSuccess' })
}

async function stateOf(session: TestSession) {
  const { session: found } = await server.graphql(
    `query($id: ID!) { session(id: $id) { status blockedOnElicitation } }`,
    { id: session.id },
  )
  return found
}

async function deliveredAt(id: string) {
  return (await server.graphql(`query($id: ID!) { elicitation(id: $id) { deliveredAt } }`, { id }))
    .elicitation.deliveredAt
}
