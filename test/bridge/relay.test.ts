import { describe, expect, it } from 'vitest'
import { createRelay } from '../../src/bridge/relay.ts'
import { AskError } from '../../src/mcp/asker.ts'
import { call, elicitation, playRelay } from './support/relay.ts'

describe('what passes', () => {
  it.each([
    [
      'numbers that JavaScript cannot hold',
      '{"jsonrpc":"2.0","id":12345678901234567890,"result":{"n":1.0,"big":123456789012345678901}}',
    ],
    [
      'odd spacing and escapes',
      ' { "jsonrpc" :"2.0", "method":"notifications/x","params":{"a":"\\u0041\\/"} } ',
    ],
    ['names like __proto__', '{"jsonrpc":"2.0","id":1,"result":{"__proto__":{"a":1},"constructor":2}}'],
    ['what is no JSON', 'Listening on port 3000'],
    ['a batch', '[{"jsonrpc":"2.0","method":"notifications/x"}]'],
    ['an empty line', ''],
    [
      'a request of the server that is not an elicitation',
      '{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{}}',
    ],
    ['an elicitation without an id', '{"jsonrpc":"2.0","method":"elicitation/create","params":{}}'],
    ['text that is not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
  ])('keeps every byte of %s, both ways', (_, line) => {
    const passed: (Buffer | string)[] = []
    const pass = (each: Buffer | string) => void passed.push(each)
    const relay = createRelay({
      gate: { hold: async () => null },
      serverName: null,
      toClient: pass,
      toServer: pass,
      log: pass,
    })
    const bytes = Buffer.from(line)
    relay.fromServer(bytes)
    relay.fromClient(bytes)
    expect(passed).toEqual([bytes, bytes])
    expect(relay.holds).toBe(0)
  })

  it('says at initialize that the client can be asked, and changes nothing beside', () => {
    const { fromClient, server } = playRelay()
    fromClient(
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","n":123456789012345678901,"capabilities":{"roots":{}}}}',
    )
    fromClient(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}}',
    )
    fromClient('{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}')
    expect(server[0]).toContain('"n":123456789012345678901')
    expect(server[0]).toContain('"protocolVersion":"2025-06-18"')
    expect(JSON.parse(server[0]!).params.capabilities).toEqual({
      roots: {},
      elicitation: { form: {}, url: {} },
    })
    expect(JSON.parse(server[1]!).params.capabilities).toEqual({ elicitation: { form: {}, url: {} } })
    expect(JSON.parse(server[2]!).params.capabilities).toEqual({ elicitation: { form: {}, url: {} } })
  })

  it('says so in every request of a client that tells its capabilities in each', () => {
    const { fromClient, server } = playRelay()
    const capabilities = 'io.modelcontextprotocol/clientCapabilities'
    fromClient(
      call(1, {
        _meta: { [capabilities]: { sampling: {} }, 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
      }),
    )
    fromClient(call(2))
    expect(JSON.parse(server[0]!).params._meta[capabilities]).toEqual({
      sampling: {},
      elicitation: { form: {}, url: {} },
    })
    expect(server[1]).toBe(JSON.stringify(call(2)))
  })
})

describe('a question of the server', () => {
  it.each([0, 7, 'seven', '0', ''])(
    'is answered under its own id, %j, and hidden from the client',
    async (id) => {
      const { fromServer, asked, sent, client } = playRelay()
      fromServer(elicitation(id))
      const [held] = await asked(1)
      held!.answer({ content: { confirm: true } })
      expect(await sent('server', 1)).toEqual([
        { jsonrpc: '2.0', id, result: { action: 'accept', content: { confirm: true } } },
      ])
      expect(client).toEqual([])
    },
  )

  it.each([
    ['accept without content', { action: 'accept' }, { action: 'accept', content: {} }],
    ['decline', { action: 'decline' }, { action: 'decline' }],
    ['cancel', { action: 'cancel' }, { action: 'cancel' }],
    ['expired, which no native server knows', { action: 'expired' }, { action: 'cancel' }],
    [
      'a note',
      { action: 'decline', note: 'not today' },
      { action: 'decline', _meta: { 'holdpoint/note': 'not today' } },
    ],
  ] as const)('comes back with %s', async (_, outcome, result) => {
    const { fromServer, asked, sent } = playRelay()
    fromServer(elicitation(0))
    ;(await asked(1))[0]!.answer(outcome)
    expect((await sent('server', 1))[0].result).toEqual(result)
  })

  it('names the server, the call and its arguments to the person', async () => {
    const { fromClient, fromServer, asked } = playRelay()
    fromClient({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { capabilities: {} } })
    fromServer({ jsonrpc: '2.0', id: 0, result: { serverInfo: { name: 'tickets', version: '1.2.3' } } })
    fromClient(call(1, { _meta: { 'claudecode/toolUseId': 'toolu_9', progressToken: 1 } }))
    fromServer(elicitation(0, { _meta: { theirs: true } }))
    const [{ question }] = (await asked(1)) as [any]
    expect(question).toMatchObject({
      mode: 'form',
      message: 'Delete it?',
      requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } } },
      serverName: 'tickets',
      toolName: 'delete_tenant',
      context: 'The tool was called with:\ntenant: acme',
      meta: {
        theirs: true,
        'holdpoint/server-info': { name: 'tickets', version: '1.2.3' },
        'holdpoint/call': { id: 1, 'claudecode/toolUseId': 'toolu_9' },
      },
    })
  })

  it('goes by the name that the launch gave the server', async () => {
    const { fromClient, fromServer, asked } = playRelay({ serverName: 'the launch says so' })
    fromClient({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} })
    fromServer({ jsonrpc: '2.0', id: 0, result: { serverInfo: { name: 'it says otherwise' } } })
    fromServer(elicitation(0))
    expect((await asked(1))[0]!.question.serverName).toBe('the launch says so')
  })

  it('says that it is a guess where several calls are open, and none where none is', async () => {
    const { fromClient, fromServer, asked } = playRelay()
    fromServer(elicitation(0))
    fromClient(call(1))
    fromClient(call(2, { name: 'list', arguments: { page: 2 } }))
    fromServer(elicitation(1))
    const [first, second] = await asked(2)
    expect(first!.question).toMatchObject({ toolName: null, context: null })
    expect(second!.question.toolName).toBeNull()
    expect(second!.question.context).toBe(
      'Several calls are open; it is not known which of them this is about:\n- delete_tenant {"tenant":"acme"}\n- list {"page":2}',
    )
  })

  it('asks for a visit with its address, and takes no content for it', async () => {
    const { fromServer, asked, sent } = playRelay()
    fromServer(elicitation(0, { mode: 'url', url: 'https://id.example.org/x', elicitationId: 'e-1' }))
    const [held] = await asked(1)
    expect(held!.question).toMatchObject({
      mode: 'url',
      url: 'https://id.example.org/x',
      elicitationId: 'e-1',
    })
    held!.answer({ action: 'accept', content: { a: 1 } })
    expect((await sent('server', 1))[0].result).toEqual({ action: 'accept' })
  })

  it('is over when the server itself saw the visit complete, and the person need not say so', async () => {
    const { fromServer, asked, sent, client } = playRelay()
    fromServer(elicitation(0, { mode: 'url', url: 'https://id.example.org/x', elicitationId: 'e-1' }))
    const [held] = await asked(1)
    const complete = (elicitationId: string) => ({
      jsonrpc: '2.0',
      method: 'notifications/elicitation/complete',
      params: { elicitationId },
    })
    fromServer(complete('e-2'))
    expect(client).toEqual([JSON.stringify(complete('e-2'))])
    fromServer(complete('e-1'))
    expect((await sent('server', 1))[0]).toEqual({ jsonrpc: '2.0', id: 0, result: { action: 'accept' } })
    expect(held!.withdrawn).toBe(true)
    expect(client).toHaveLength(1)
  })

  it('answers twenty at once in whatever order they are decided', async () => {
    const { fromServer, asked, sent } = playRelay()
    for (let id = 0; id < 20; id++) fromServer(elicitation(id, { message: `Number ${id}?` }))
    const held = await asked(20)
    for (const each of held.toReversed()) each.answer({ content: { of: each.question.message } })
    const replies = await sent('server', 20)
    expect(replies.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, i) => 19 - i))
    for (const { id, result } of replies) expect(result.content).toEqual({ of: `Number ${id}?` })
  })

  it('is an error that names the cause when it could not be asked, and never a decline', async () => {
    const { fromServer, asked, sent } = playRelay()
    fromServer(elicitation(0))
    fromServer(elicitation(1))
    const [first, second] = await asked(2)
    first!.fail(new AskError('UNREACHABLE', 'ECONNREFUSED'))
    second!.fail(new AskError('INVALID_INPUT', 'message is over the limit of 16 KiB.'))
    const replies = await sent('server', 2)
    expect(replies[0]).toEqual({
      jsonrpc: '2.0',
      id: 0,
      error: { code: -32603, message: expect.stringMatching(/UNREACHABLE.*ECONNREFUSED/) },
    })
    expect(replies[1].error).toEqual({ code: -32602, message: expect.stringContaining('16 KiB') })
  })

  it.each([
    ['an unknown mode', { mode: 'video' }],
    ['no message', { message: 7 }],
  ])('with %s is refused as the protocol says', async (_, params) => {
    const { fromServer, sent, held } = playRelay()
    fromServer(elicitation(0, params))
    expect((await sent('server', 1))[0].error.code).toBe(-32602)
    expect(held).toEqual([])
  })

  it('is refused when a hundred wait already', async () => {
    const { fromServer, asked, server } = playRelay()
    for (let id = 0; id < 101; id++) fromServer(elicitation(id))
    await asked(100)
    expect(server).toHaveLength(1)
    expect(JSON.parse(server[0]!)).toMatchObject({ id: 100, error: { code: -32603 } })
  })

  it('waits for the person no longer than the server does', async () => {
    const { fromServer, asked, client, server, relay } = playRelay()
    fromServer(elicitation('a'))
    const [held] = await asked(1)
    const cancelled = (requestId: string) => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason: 'Error: MCP error -32001: Request timed out' },
    })
    fromServer(cancelled('b'))
    fromServer(cancelled('a'))
    await expect.poll(() => relay.holds).toBe(0)
    expect(held!.withdrawn).toBe(true)
    // The client never saw the question, and whoever cancels a request wants no answer.
    expect(client).toEqual([JSON.stringify(cancelled('b'))])
    expect(server).toEqual([])
    fromServer(elicitation('c'))
    expect((await asked(2))[1]!.question.context).toMatch(
      /^This server stopped waiting for an answer after \d+ s before\.$/,
    )
  })

  it('is taken back when the client cancels the one call that it may be about', async () => {
    const { fromClient, fromServer, asked, sent, server } = playRelay()
    fromClient(call(1))
    fromServer(elicitation(0))
    const [held] = await asked(1)
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    fromClient(cancelled)
    const lines = await sent('server', 3)
    expect(held!.withdrawn).toBe(true)
    expect(server[1]).toBe(JSON.stringify(cancelled))
    expect(lines[2]).toEqual({ jsonrpc: '2.0', id: 0, result: { action: 'cancel' } })
  })

  it('stays when the client cancels another call', async () => {
    const { fromClient, fromServer, asked, sent } = playRelay()
    fromClient(call(1))
    fromClient(call(2))
    fromServer(elicitation(0))
    const [held] = await asked(1)
    fromClient({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
    expect(held!.withdrawn).toBe(false)
    // The first has its answer, so the question is about neither of them: whoever asked it still waits.
    fromServer({ jsonrpc: '2.0', id: 1, result: {} })
    expect(held!.withdrawn).toBe(false)
    held!.answer({ action: 'decline' })
    expect((await sent('server', 4)).at(-1)).toEqual({ jsonrpc: '2.0', id: 0, result: { action: 'decline' } })
  })

  it('is taken back when either side is gone, and answered to nobody', async () => {
    const { relay, fromServer, asked, server, client } = playRelay()
    fromServer(elicitation(0))
    const [held] = await asked(1)
    await relay.end()
    expect(held!.withdrawn).toBe(true)
    expect(relay.holds).toBe(0)
    fromServer(elicitation(1))
    fromServer('last words')
    expect(server).toEqual([])
    expect(client).toEqual(['last words'])
  })
})

describe('a result that asks (MCP 2026-07-28)', () => {
  const inputRequired = (id: number | string, more: Record<string, unknown> = {}) => ({
    jsonrpc: '2.0',
    id,
    result: {
      resultType: 'input_required',
      requestState: 'opaque \u2028 state',
      inputRequests: {
        ok: {
          method: 'elicitation/create',
          params: { mode: 'form', message: 'Delete it?', requestedSchema: {} },
        },
      },
      ...more,
    },
  })

  it('is held back, and the call made again with the answers and the very same state', async () => {
    const { fromClient, fromServer, asked, sent, client } = playRelay()
    fromClient(
      '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"delete_tenant","arguments":{"n":123456789012345678901}}}',
    )
    fromServer(inputRequired(5))
    const [held] = await asked(1)
    expect(held!.question).toMatchObject({ message: 'Delete it?', toolName: 'delete_tenant' })
    held!.answer({ content: { confirm: true } })
    const [, again] = await sent('server', 2)
    expect(again).toMatchObject({
      method: 'tools/call',
      params: {
        name: 'delete_tenant',
        inputResponses: { ok: { action: 'accept', content: { confirm: true } } },
        requestState: 'opaque \u2028 state',
      },
    })
    expect(again.id).not.toBe(5)
    expect(client).toEqual([])
    // The last reply goes to the client under the id that it knows.
    fromServer({ jsonrpc: '2.0', id: again.id, result: { content: [], n: 1 } })
    expect(client).toEqual(['{"jsonrpc":"2.0","id":5,"result":{"content":[],"n":1}}'])
  })

  it('does not lose digits of the call that it makes again', async () => {
    const { fromClient, fromServer, asked, server } = playRelay()
    fromClient(
      '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x","arguments":{"n":123456789012345678901}}}',
    )
    fromServer(inputRequired(5))
    ;(await asked(1))[0]!.answer({})
    await expect.poll(() => server[1]).toContain('"n":123456789012345678901')
  })

  it('asks several questions at once, and sends no state where none came', async () => {
    const { fromClient, fromServer, asked, sent } = playRelay()
    fromClient(call(5, { requestState: 'of an earlier round' }))
    const one = (message: string) => ({
      method: 'elicitation/create',
      params: { message, requestedSchema: {} },
    })
    fromServer(
      inputRequired(5, {
        requestState: undefined,
        inputRequests: JSON.parse(
          JSON.stringify({ a: one('A?'), b: one('B?') }).replace('"b"', '"__proto__"'),
        ),
      }),
    )
    const held = await asked(2)
    held.find(({ question }) => question.message === 'B?')!.answer({ action: 'decline' })
    held.find(({ question }) => question.message === 'A?')!.answer({ action: 'expired' })
    const [, again] = await sent('server', 2)
    expect(Object.keys(again.params.inputResponses)).toEqual(['a', '__proto__'])
    expect(Object.entries(again.params.inputResponses)).toEqual([
      ['a', { action: 'cancel' }],
      ['__proto__', { action: 'decline' }],
    ])
    expect(Object.hasOwn(again.params, 'requestState')).toBe(false)
  })

  it.each([
    [
      'asks for something that only the client can give',
      { inputRequests: { s: { method: 'sampling/createMessage', params: {} } } },
    ],
    [
      'asks for that too',
      {
        inputRequests: {
          ok: { method: 'elicitation/create', params: { message: 'x' } },
          r: { method: 'roots/list' },
        },
      },
    ],
    ['asks nothing and says to come again', { inputRequests: undefined }],
  ])('is the client’s as it is when it %s', async (_, more) => {
    const { fromClient, fromServer, client, held } = playRelay()
    fromClient(call(5))
    fromServer(inputRequired(5, more))
    expect(client).toEqual([JSON.stringify(inputRequired(5, more))])
    expect(held).toEqual([])
  })

  it('goes ten rounds, and leaves the eleventh to the client', async () => {
    const { fromClient, fromServer, asked, sent, client } = playRelay()
    fromClient(call(5))
    let id: number | string = 5
    for (let round = 1; round <= 10; round++) {
      fromServer(inputRequired(id))
      ;(await asked(round))[round - 1]!.answer({})
      id = (await sent('server', round + 1)).at(-1).id
    }
    fromServer(inputRequired(id))
    expect(JSON.parse(client[0]!)).toMatchObject({ id: 5, result: { resultType: 'input_required' } })
  })

  it('is dropped when the client cancels the call, and the server is not told of what it has finished', async () => {
    const { fromClient, fromServer, asked, server, client, relay } = playRelay()
    fromClient(call(5))
    fromServer(inputRequired(5))
    const [held] = await asked(1)
    fromClient({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } })
    await expect.poll(() => relay.holds).toBe(0)
    expect(held!.withdrawn).toBe(true)
    expect(server).toHaveLength(1)
    expect(client).toEqual([])
  })

  it('cancels the repeated call under the id that the server knows, and hides its late reply', async () => {
    const { fromClient, fromServer, asked, sent, client } = playRelay()
    fromClient(call(5))
    fromServer(inputRequired(5))
    ;(await asked(1))[0]!.answer({})
    const again = (await sent('server', 2))[1]
    fromClient({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5, reason: 'x' } })
    expect((await sent('server', 3))[2]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: again.id, reason: 'x' },
    })
    fromServer({ jsonrpc: '2.0', id: again.id, result: {} })
    expect(client).toEqual([])
  })

  it('is an error for the client when it could not be asked, and the other questions are taken back', async () => {
    const { fromClient, fromServer, asked, sent } = playRelay()
    fromClient(call(5))
    const one = (message: string) => ({
      method: 'elicitation/create',
      params: { message, requestedSchema: {} },
    })
    fromServer(inputRequired(5, { inputRequests: { a: one('A?'), b: one('B?') } }))
    const held = await asked(2)
    held[0]!.fail(new AskError('UNREACHABLE', 'ECONNREFUSED'))
    expect(await sent('client', 1)).toEqual([
      { jsonrpc: '2.0', id: 5, error: { code: -32603, message: expect.stringContaining('ECONNREFUSED') } },
    ])
    expect(held[1]!.withdrawn).toBe(true)
  })
})

describe('a call that needs a visit first (-32042)', () => {
  const needsVisit = (id: number | string, url = 'https://id.example.org/1') => ({
    jsonrpc: '2.0',
    id,
    error: {
      code: -32042,
      message: 'Sign in first',
      data: { elicitations: [{ mode: 'url', message: 'Sign in', url, elicitationId: `e ${url}` }] },
    },
  })

  it('is made again once the person is done, and answered under the id of the client', async () => {
    const { fromClient, fromServer, asked, sent } = playRelay()
    fromClient(call('c'))
    fromServer(needsVisit('c'))
    const [held] = await asked(1)
    expect(held!.question).toMatchObject({ mode: 'url', url: 'https://id.example.org/1', message: 'Sign in' })
    held!.answer({ action: 'accept' })
    const again = (await sent('server', 2))[1]
    expect(again).toEqual({ ...call('c'), id: again.id })
    fromServer({ jsonrpc: '2.0', id: again.id, result: { content: [] } })
    expect((await sent('client', 1))[0]).toEqual({ jsonrpc: '2.0', id: 'c', result: { content: [] } })
  })

  it('is made again when the server saw the visit complete', async () => {
    const { fromClient, fromServer, asked, sent } = playRelay()
    fromClient(call(1))
    fromServer(needsVisit(1))
    const [held] = await asked(1)
    fromServer({
      jsonrpc: '2.0',
      method: 'notifications/elicitation/complete',
      params: { elicitationId: 'e https://id.example.org/1' },
    })
    expect((await sent('server', 2))[1]).toMatchObject({ method: 'tools/call' })
    expect(held!.withdrawn).toBe(true)
  })

  it('fails for the client when the same address comes back', async () => {
    const { fromClient, fromServer, asked, sent } = playRelay()
    fromClient(call(1))
    fromServer(needsVisit(1))
    ;(await asked(1))[0]!.answer({})
    const again = (await sent('server', 2))[1]
    fromServer(needsVisit(again.id))
    expect((await sent('client', 1))[0]).toEqual(needsVisit(1))
  })

  it.each([
    ['decline', /declined/],
    ['cancel', /neither a yes nor a no/],
    ['expired', /neither a yes nor a no/],
  ] as const)('tells the agent of a %s', async (action, words) => {
    const { fromClient, fromServer, asked, sent } = playRelay()
    fromClient(call(1))
    fromServer(needsVisit(1))
    ;(await asked(1))[0]!.answer({ action })
    const [reply] = await sent('client', 1)
    expect(reply).toMatchObject({
      id: 1,
      result: { isError: true, content: [{ type: 'text', text: expect.stringMatching(words) }] },
    })
  })

  it('is the client’s when it does not say where to go', () => {
    const { fromClient, fromServer, client } = playRelay()
    fromClient(call(1))
    const bare = '{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"?"}}'
    fromServer(bare)
    expect(client).toEqual([bare])
  })
})

describe('progress', () => {
  it('rises for the client on every open call that asked for it, also between what the server tells', async () => {
    const { fromClient, fromServer, asked, client } = playRelay({ progressMs: 5 })
    fromClient(call(1, { _meta: { progressToken: 'p' } }))
    fromClient(call(2))
    fromServer(elicitation(0))
    const [held] = await asked(1)
    await expect.poll(() => client.length).toBeGreaterThanOrEqual(3)
    fromServer({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'p', progress: 40, total: 100 },
    })
    const before = client.length
    await expect.poll(() => client.length).toBeGreaterThanOrEqual(before + 3)
    fromServer({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'p', progress: 41, total: 100 },
    })
    const told = client.map((line) => JSON.parse(line).params)
    expect(told.every(({ progressToken }) => progressToken === 'p')).toBe(true)
    const values = told.map(({ progress }) => progress)
    expect(values).toEqual(values.toSorted((a, b) => a - b))
    expect(new Set(values).size).toBe(values.length)
    held!.answer({})
  })

  it('rises for the server where its question asked for it, and ends with the answer', async () => {
    const { fromServer, asked, server, relay } = playRelay({ progressMs: 5 })
    fromServer(elicitation(0, { _meta: { progressToken: 9 } }))
    fromServer(elicitation(1))
    const held = await asked(2)
    await expect.poll(() => server.length).toBeGreaterThanOrEqual(3)
    held[0]!.answer({})
    held[1]!.answer({})
    await expect.poll(() => relay.holds).toBe(0)
    const lines = server.map((line) => JSON.parse(line))
    const progress = lines
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => params)
    expect(progress.map((each) => each.progress)).toEqual(progress.map((_, i) => i + 1))
    expect(progress.every(({ progressToken }) => progressToken === 9)).toBe(true)
    expect(lines.filter(({ id }) => id !== undefined).map(({ id }) => id)).toEqual([0, 1])
  })
})
