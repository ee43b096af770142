import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { confirmSchema, createSession, type TestSession } from '../support/ask.ts'
import { boundKey, callTool, connectHttp, endOf, onePendingOf, pendingOf, respond } from '../support/mcp.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let session: TestSession
let key: string
let agent: Client

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(async () => {
  session = await createSession(server)
  key = await boundKey(server, session.id)
  agent = await connectHttp(server, key)
})
afterEach(() => agent.close())

describe('ask_person', () => {
  it('puts the question to the person of its own session and brings the answer back', async () => {
    const asking = callTool(agent, 'ask_person', {
      message: 'Which region?',
      context: 'The\u202E deploy.',
      requestedSchema: confirmSchema,
    })
    const pending = await onePendingOf(server, session.id)
    expect(pending).toMatchObject({
      message: 'Which region?',
      context: 'The⟨U+202E⟩ deploy.',
      toolName: 'ask_person',
      serverName: 'the agent itself',
      requestedSchema: confirmSchema,
    })
    await respond(server, pending.requestId, {
      action_type: 'accept',
      content: { confirm: true },
      note: 'fine',
    })
    const { text, data, isError } = await asking
    expect(isError).toBe(false)
    expect(data).toEqual({
      request_id: pending.requestId,
      action: 'accept',
      content: { confirm: true },
      note: 'fine',
    })
    expect(text).toMatch(new RegExp(`${pending.requestId}: accept.*{"confirm":true}.*fine.*accepted`, 's'))
    const { elicitation } = await server.graphql(
      `query($r: String!) { elicitation(requestId: $r) { deliveredAt } }`,
      { r: pending.requestId },
    )
    expect(elicitation.deliveredAt).not.toBeNull()
  })

  it.each([
    ['decline', 'declined'],
    ['cancel', 'neither a yes nor a no'],
  ])('tells a %s for what it is', async (action, words) => {
    const asking = callTool(agent, 'ask_person', { message: 'Go?' })
    await respond(server, (await onePendingOf(server, session.id)).requestId, { action_type: action })
    const { data, text } = await asking
    expect(data.action).toBe(action)
    expect(text).toContain(words)
  })

  it('hands back a handle when nobody answers in time, and await_answer goes on waiting', async () => {
    const first = await callTool(agent, 'ask_person', { message: 'Go?', wait_seconds: 0 })
    expect(first.data).toMatchObject({ action: 'pending', content: null })
    expect(first.text).toContain('await_answer')
    const { request_id } = first.data
    const again = await callTool(agent, 'await_answer', { request_id, wait_seconds: 0 })
    expect(again.data.action).toBe('pending')
    const waiting = callTool(agent, 'await_answer', { request_id })
    await respond(server, request_id, { action_type: 'accept' })
    expect((await waiting).data).toMatchObject({ request_id, action: 'accept' })
    // The answer is still there for an agent that lost it.
    expect((await callTool(agent, 'await_answer', { request_id })).data.action).toBe('accept')
  })

  it('tells what expired, and that it is no decision', async () => {
    const first = await callTool(agent, 'ask_person', { message: 'Go?', wait_seconds: 0 })
    // The clock of this server cannot be moved; another one on the same database lives two hours later.
    await using later = await startServer({
      connectionString: server.connectionString,
      now: () => new Date(Date.now() + 2 * 3_600_000),
    })
    const there = await connectHttp(later, key)
    const { data, text } = await callTool(there, 'await_answer', { request_id: first.data.request_id })
    expect(data.action).toBe('expired')
    expect(text).toContain('neither a yes nor a no')
    await there.close()
  })

  it('lets nobody else fetch the answer', async () => {
    const { data } = await callTool(agent, 'ask_person', { message: 'Go?', wait_seconds: 0 })
    const operator = await connectHttp(server)
    const sibling = await connectHttp(server, await boundKey(server, session.id))
    for (const other of [operator, sibling])
      expect((await callTool(other, 'await_answer', { request_id: data.request_id })).text).toMatch(
        /^NOT_FOUND: /,
      )
    await Promise.all([operator.close(), sibling.close()])
  })

  it('needs a key that is bound to a session', async () => {
    const operator = await connectHttp(server)
    expect(await callTool(operator, 'ask_person', { message: 'Go?' })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^FORBIDDEN: .*not bound/),
    })
    await operator.close()
  })

  it.each([
    ['a blank message', { message: ' ' }, /message: must not be blank/],
    ['a message over 16 KiB', { message: 'x'.repeat(16 * 1024 + 1) }, /message: is over the limit of 16 KiB/],
    [
      'a schema that is a list',
      { message: 'Go?', requestedSchema: [] },
      /requestedSchema: must be a JSON object/,
    ],
    [
      '101 properties',
      {
        message: 'Go?',
        requestedSchema: {
          properties: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`p${i}`, {}])),
        },
      },
      /101 properties/,
    ],
  ])('refuses %s and says why', async (_, args, fault) => {
    const { isError, text } = await callTool(agent, 'ask_person', args)
    expect(isError).toBe(true)
    expect(text).toMatch(fault)
    await pendingOf(server, session.id, 0)
  })

  it('is taken back when the client cancels the call, on whichever server that arrives', async () => {
    await using second = await startServer({ connectionString: server.connectionString })
    const cancel = new AbortController()
    const asking = callTool(agent, 'ask_person', { message: 'Go?' }, { signal: cancel.signal }).catch(
      (error) => error,
    )
    const pending = await onePendingOf(server, session.id)
    // The SDK sends the notification to the address of its transport: the same message, by hand, to the other server.
    const { transport } = agent as unknown as { transport: { sessionId: string } }
    const sent = await second.rest('POST', '/mcp', {
      key,
      headers: { 'mcp-session-id': transport.sessionId, accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    })
    expect(sent.status).toBe(202)
    expect(await endOf(server, pending.requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })
    expect((await asking).data.action).toBe('cancel')

    const again = callTool(agent, 'ask_person', { message: 'Go again?' }, { signal: cancel.signal }).catch(
      (error) => error,
    )
    const next = await onePendingOf(server, session.id)
    cancel.abort('changed my mind')
    await again
    expect(await endOf(server, next.requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })
  })

  it('outlives a lost connection: the answer can still be fetched', async () => {
    const abort = new AbortController()
    const asking = fetch(`${server.url}/mcp`, {
      method: 'POST',
      signal: abort.signal,
      headers: {
        'x-api-key': key,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'tools/call',
        params: { name: 'ask_person', arguments: { message: 'Go?' } },
      }),
    })
      .then((response) => response.text())
      .catch(() => 'gone')
    const { requestId } = await onePendingOf(server, session.id)
    abort.abort()
    expect(await asking).toBe('gone')
    await respond(server, requestId, { action_type: 'accept' })
    expect((await callTool(agent, 'await_answer', { request_id: requestId })).data.action).toBe('accept')
  })

  it('tells a client that asks for progress that the call is alive', async () => {
    const told: { progress: number; message?: string }[] = []
    const asking = callTool(
      agent,
      'ask_person',
      { message: 'Go?' },
      { onprogress: (progress) => void told.push(progress) },
    )
    const { requestId } = await onePendingOf(server, session.id)
    await expect.poll(() => told.length).toBe(1)
    expect(told[0]).toMatchObject({ progress: 1, message: expect.stringContaining(requestId) })
    await respond(server, requestId, { action_type: 'accept' })
    await asking
  })

  it('bounds what one key has pending at a time', async () => {
    for (let i = 0; i < 20; i++)
      expect((await callTool(agent, 'ask_person', { message: `Go ${i}?`, wait_seconds: 0 })).isError).toBe(
        false,
      )
    expect(await callTool(agent, 'ask_person', { message: 'Go?', wait_seconds: 0 })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^TOO_MANY_PENDING_PER_ADDRESS: /),
    })
    expect((await server.rest('GET', '/metrics')).body).toContain(
      'holdpoint_refusals_total{code="TOO_MANY_PENDING_PER_ADDRESS"} 1\n',
    )
  })
})

describe('approve_tool_use', () => {
  const use = {
    tool_name: 'Bash',
    input: { command: 'rm -rf build\necho path: /tmp', timeout: 5_000, env: { A: '1' } },
    tool_use_id: 'toolu_1',
  }
  const decisionOf = ({ text }: { text: string }) => JSON.parse(text)

  it('shows the tool and its arguments, none of which can pass for another', async () => {
    const asking = callTool(agent, 'approve_tool_use', use)
    const pending = await onePendingOf(server, session.id)
    expect(pending.toolName).toBe('Bash')
    expect(pending.message).toBe(
      [
        'The agent asks to use the tool Bash with:',
        '',
        'command:',
        '  rm -rf build',
        '  echo path: /tmp',
        'timeout: 5000',
        'env:',
        '  {',
        '    "A": "1"',
        '  }',
      ].join('\n'),
    )
    expect(pending.meta).toMatchObject({ 'holdpoint/tool-use-id': 'toolu_1' })
    await respond(server, pending.requestId, { action_type: 'accept' })
    expect(decisionOf(await asking)).toEqual({ behavior: 'allow', updatedInput: use.input })
  })

  it('allows only with updatedInput, also where there were no arguments', async () => {
    const asking = callTool(agent, 'approve_tool_use', { tool_name: 'ExitPlanMode' })
    await respond(server, (await onePendingOf(server, session.id)).requestId, { action_type: 'accept' })
    expect(decisionOf(await asking)).toEqual({ behavior: 'allow', updatedInput: {} })
  })

  it.each([
    [
      'a decline with its note',
      { action_type: 'decline', note: 'Use the staging database.' },
      'Use the staging database.',
    ],
    ['a decline without one', { action_type: 'decline' }, /declined/],
    ['a dismissal', { action_type: 'cancel' }, /neither a yes nor a no/],
  ])('denies on %s', async (_, answer, message) => {
    const asking = callTool(agent, 'approve_tool_use', use)
    await respond(server, (await onePendingOf(server, session.id)).requestId, answer)
    expect(decisionOf(await asking)).toEqual({
      behavior: 'deny',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
  })

  it('shows what hides, and says so when the arguments are too long to be shown', async () => {
    const asking = callTool(agent, 'approve_tool_use', {
      tool_name: 'Write',
      input: { path: 'a\u202Eb', content: 'é'.repeat(20_000) },
    })
    const { message, requestId } = await onePendingOf(server, session.id)
    expect(message).toContain('path: a⟨U+202E⟩b')
    expect(message).toMatch(/CUT HERE: \d+ of \d+ bytes are not shown/)
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(16 * 1024 + 50)
    await respond(server, requestId, { action_type: 'decline' })
    await asking
  })

  it('takes the question back when its caller is gone: nobody else can use the answer', async () => {
    const abort = new AbortController()
    const asking = fetch(`${server.url}/mcp`, {
      method: 'POST',
      signal: abort.signal,
      headers: {
        'x-api-key': key,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'tools/call',
        params: { name: 'approve_tool_use', arguments: use },
      }),
    })
      .then((response) => response.text())
      .catch(() => 'gone')
    const { requestId } = await onePendingOf(server, session.id)
    abort.abort()
    await asking
    expect(await endOf(server, requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })
  })

  it('denies what is withdrawn or ended with the session, and calls it neither', async () => {
    const asking = callTool(agent, 'approve_tool_use', use)
    await onePendingOf(server, session.id)
    await server.graphql(`mutation($id: ID!) { archiveSession(id: $id) { __typename } }`, { id: session.id })
    expect(decisionOf(await asking)).toEqual({
      behavior: 'deny',
      message: expect.stringContaining('neither a yes nor a no'),
    })
    // The key of the session's agent has ended with it.
    await expect(callTool(agent, 'approve_tool_use', use)).rejects.toThrow(/revoked/)
  })

  describe('with AskUserQuestion', () => {
    const questions = [
      {
        question: 'Which database?',
        header: 'Database',
        multiSelect: false,
        options: [
          { label: 'Postgres', description: 'What we have' },
          { label: 'SQLite', description: '' },
        ],
      },
      {
        question: 'Which tests?',
        header: 'Tests',
        multiSelect: true,
        options: [{ label: 'unit' }, { label: 'e2e' }, { label: 'load' }],
      },
    ]

    it('asks with a form of the options and answers by the texts of the questions', async () => {
      const asking = callTool(agent, 'approve_tool_use', {
        tool_name: 'AskUserQuestion',
        input: { questions },
      })
      const { requestId, message, requestedSchema } = await onePendingOf(server, session.id)
      expect(message).toBe('The agent has 2 questions.')
      expect(requestedSchema.properties.question_1).toEqual({
        type: 'string',
        title: 'Which database?',
        description: 'Database',
        oneOf: [
          { const: 'Postgres', title: 'Postgres: What we have' },
          { const: 'SQLite', title: 'SQLite' },
        ],
      })
      await respond(server, requestId, {
        action_type: 'accept',
        content: { question_1: 'SQLite', question_2: ['unit', 'load'] },
      })
      expect(decisionOf(await asking)).toEqual({
        behavior: 'allow',
        updatedInput: { questions, answers: { 'Which database?': 'SQLite', 'Which tests?': 'unit, load' } },
      })
    })

    it('does not accept without an answer to each question', async () => {
      const asking = callTool(agent, 'approve_tool_use', {
        tool_name: 'AskUserQuestion',
        input: { questions: [questions[0]] },
      })
      const { requestId, message } = await onePendingOf(server, session.id)
      expect(message).toBe('Which database?')
      const refused = await server.rest('PATCH', `/api/v1/elicitations/${requestId}/respond`, {
        key: 'an-admin-key-for-tests',
        body: { action_type: 'accept' },
      })
      expect(refused.body.code).toBe('INVALID_CONTENT')
      await respond(server, requestId, { action_type: 'decline', note: 'Neither.' })
      expect(decisionOf(await asking)).toEqual({ behavior: 'deny', message: 'Neither.' })
    })

    it.each([
      ['no options', [{ question: 'Why?', options: [] }]],
      ['the same question twice', [questions[0], questions[0]]],
      ['something else', 'Why?'],
    ])('falls back to the bare arguments for %s', async (_, odd) => {
      const asking = callTool(agent, 'approve_tool_use', {
        tool_name: 'AskUserQuestion',
        input: { questions: odd },
      })
      const { requestId, message, requestedSchema } = await onePendingOf(server, session.id)
      expect(message).toMatch(/^The agent asks to use the tool AskUserQuestion with:/)
      expect(requestedSchema).toEqual({})
      await respond(server, requestId, { action_type: 'accept' })
      expect(decisionOf(await asking)).toEqual({ behavior: 'allow', updatedInput: { questions: odd } })
    })
  })
})

describe('while the server goes away', () => {
  it('ask_person hands back its handle, and the other server goes on with it', async () => {
    await using leaving = await startServer({ connectionString: server.connectionString })
    const there = await connectHttp(leaving, key)
    const asking = callTool(there, 'ask_person', { message: 'Go?' })
    const { requestId } = await onePendingOf(server, session.id)
    await expect.poll(() => leaving.app.heldPolls()).toBe(1)
    await leaving.app.close()
    const handed = await asking.catch((error) => ({ lost: String(error) }))
    if (!('lost' in handed)) expect(handed.data).toMatchObject({ request_id: requestId, action: 'pending' })
    await respond(server, requestId, { action_type: 'accept' })
    expect((await callTool(agent, 'await_answer', { request_id: requestId })).data.action).toBe('accept')
    await there.close().catch(() => {})
  })
})
