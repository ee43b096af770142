import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { confirmSchema, createSession, type TestSession } from '../support/ask.ts'
import { boundKey, endOf, onePendingOf, pendingOf, respond } from '../support/mcp.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let session: TestSession
let key: string

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(async () => {
  session = await createSession(server)
  key = await boundKey(server, session.id)
})

/** What Claude Code 2.1 sends to a hook of the type http. */
function elicitation(more: Record<string, unknown> = {}) {
  return {
    session_id: '7f0e9d0c-0000-4000-8000-000000000000',
    transcript_path: '/tmp/t.jsonl',
    cwd: '/work',
    permission_mode: 'default',
    hook_event_name: 'Elicitation',
    mcp_server_name: 'tickets',
    message: 'Close the ticket?',
    mode: 'form',
    requested_schema: confirmSchema,
    ...more,
  }
}

function call(body: unknown, options: { key?: string | null; signal?: AbortSignal } = {}) {
  return server.rest('POST', '/api/v1/hooks/claude-code', { key, body, ...options })
}

describe('the http hook of Claude Code', () => {
  it('is held until the person answers, and answers what Claude Code reads', async () => {
    const held = call(elicitation())
    const pending = await onePendingOf(server, session.id)
    expect(pending).toMatchObject({
      message: 'Close the ticket?',
      serverName: 'tickets',
      requestedSchema: confirmSchema,
    })
    await respond(server, pending.requestId, { action_type: 'accept', content: { confirm: true } })
    expect(await held).toMatchObject({
      status: 200,
      body: {
        hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content: { confirm: true } },
      },
    })
  })

  it('takes the key as a bearer token too, as its headers are written', async () => {
    const held = server.rest('POST', '/api/v1/hooks/claude-code', {
      headers: { authorization: `Bearer ${key}` },
      body: elicitation(),
    })
    await respond(server, (await onePendingOf(server, session.id)).requestId, { action_type: 'decline' })
    expect((await held).body.hookSpecificOutput).toEqual({ hookEventName: 'Elicitation', action: 'decline' })
  })

  it('gives an empty content where the form was accepted without any, and none for a dismissal', async () => {
    const accepted = call(elicitation({ requested_schema: {} }))
    await respond(server, (await onePendingOf(server, session.id)).requestId, { action_type: 'accept' })
    expect((await accepted).body.hookSpecificOutput).toEqual({
      hookEventName: 'Elicitation',
      action: 'accept',
      content: {},
    })
    const dismissed = call(elicitation())
    await respond(server, (await onePendingOf(server, session.id)).requestId, { action_type: 'cancel' })
    expect((await dismissed).body.hookSpecificOutput).toEqual({
      hookEventName: 'Elicitation',
      action: 'cancel',
    })
  })

  it('never gives content for a url', async () => {
    const held = call(
      elicitation({
        mode: 'url',
        requested_schema: undefined,
        url: 'https://id.example.org/connect',
        elicitation_id: 'e1',
      }),
    )
    const { requestId, url } = await onePendingOf(server, session.id)
    expect(url).toBe('https://id.example.org/connect')
    await respond(server, requestId, { action_type: 'accept', content: { sneaked: 'in' } })
    expect((await held).body.hookSpecificOutput).toEqual({ hookEventName: 'Elicitation', action: 'accept' })
  })

  it('refuses content that does not fit the form before Claude Code can see it', async () => {
    const held = call(elicitation())
    const { requestId } = await onePendingOf(server, session.id)
    const refused = await server.rest('PATCH', `/api/v1/elicitations/${requestId}/respond`, {
      key: adminKey,
      body: { action_type: 'accept', content: { confirm: 'yes' } },
    })
    expect(refused.status).toBe(422)
    await respond(server, requestId, { action_type: 'accept', content: { confirm: false } })
    expect((await held).body.hookSpecificOutput.content).toEqual({ confirm: false })
  })

  it('is a cancel when nobody answered in time', async () => {
    let skewMs = 0
    await using clocked = await startServer({
      connectionString: server.connectionString,
      now: () => new Date(Date.now() + skewMs),
    })
    const held = clocked.rest('POST', '/api/v1/hooks/claude-code', { key, body: elicitation() })
    const { requestId } = await onePendingOf(server, session.id)
    skewMs = 2 * 3_600_000
    // Any poll finds it expired; the one that is held hears of it.
    await clocked.rest('GET', `/api/v1/elicitations/${requestId}?wait=0`)
    expect((await held).body.hookSpecificOutput).toEqual({ hookEventName: 'Elicitation', action: 'cancel' })
    expect(await endOf(server, requestId)).toEqual({ status: 'EXPIRED', cause: 'EXPIRED' })
  })

  it('takes the question back when Claude Code hangs up', async () => {
    const abort = new AbortController()
    const held = call(elicitation(), { signal: abort.signal }).catch(() => 'gone')
    const { requestId } = await onePendingOf(server, session.id)
    abort.abort()
    expect(await held).toBe('gone')
    expect(await endOf(server, requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })
  })

  it('is no decision while the server goes away', async () => {
    await using leaving = await startServer({ connectionString: server.connectionString })
    const held = leaving
      .rest('POST', '/api/v1/hooks/claude-code', { key, body: elicitation() })
      .catch(() => null)
    const { requestId } = await onePendingOf(server, session.id)
    await expect.poll(() => leaving.app.heldPolls()).toBe(1)
    await leaving.app.close()
    const answered = await held
    // Either it is told, or its connection is cut: neither is a decision.
    if (answered) expect(answered).toMatchObject({ status: 503, body: { code: 'GOING_AWAY' } })
    expect(await endOf(server, requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })
  })

  it('needs a key, and one that is bound to a session', async () => {
    expect(await call(elicitation(), { key: null })).toMatchObject({
      status: 401,
      body: { code: 'UNAUTHENTICATED' },
    })
    expect(await call(elicitation(), { key: 'wrong' })).toMatchObject({ status: 401 })
    expect(await call(elicitation(), { key: adminKey })).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN', message: expect.stringContaining('not bound') },
    })
  })

  it.each([
    ['another event', elicitation({ hook_event_name: 'PreToolUse' }), 'Elicitation'],
    ['an unknown mode', elicitation({ mode: 'video' }), 'video'],
    ['no message', elicitation({ message: undefined }), 'message'],
    ['a message over the limit', elicitation({ message: 'x'.repeat(17 * 1024) }), '16 KiB'],
    ['a url that is none', elicitation({ mode: 'url', url: 'javascript:alert(1)' }), 'url'],
    ['a list', [], 'object'],
  ])('refuses %s, which is no decision either', async (_, body, word) => {
    const refused = await call(body)
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'INVALID_INPUT', message: expect.stringContaining(word) },
    })
    await pendingOf(server, session.id, 0)
  })
})

describe('a key that is bound to a session', () => {
  const question = (id: string) => ({
    message: 'Go?',
    _meta: { 'com.pulsemcp/request-id': id, 'holdpoint/server-name': 'ti\u202Eckets' },
  })

  it('asks for its session on the plain address, also where that is closed to others', async () => {
    await using closed = await startServer({
      connectionString: server.connectionString,
      environment: { HOLDPOINT_GATE_ACCESS: 'capability' },
    })
    const id = `bound-${session.id}`
    expect((await closed.rest('POST', '/api/v1/elicitations', { body: question(id) })).status).toBe(403)
    expect(
      (await closed.rest('POST', '/api/v1/elicitations', { key: adminKey, body: question(id) })).status,
    ).toBe(403)
    expect((await closed.rest('POST', '/api/v1/elicitations', { key, body: question(id) })).status).toBe(201)
    expect(await onePendingOf(server, session.id)).toMatchObject({
      requestId: id,
      serverName: 'ti⟨U+202E⟩ckets',
    })
    expect((await closed.rest('GET', `/api/v1/elicitations/${id}?wait=0`)).body.action).toBe('pending')
    expect((await closed.rest('DELETE', `/api/v1/elicitations/${id}`, { key })).body.action).toBe('cancel')
  })

  it('asks for no other session, whatever the request names', async () => {
    const other = await createSession(server)
    const body = question(`other-${session.id}`)
    Object.assign(body._meta, { 'com.pulsemcp/session-id': other.id })
    expect((await server.rest('POST', '/api/v1/elicitations', { key, body })).status).toBe(201)
    await pendingOf(server, other.id, 0)
    await pendingOf(server, session.id, 1)
  })
})
