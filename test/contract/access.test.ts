import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { confirmSchema, createSession, requestId, type TestSession } from '../support/ask.ts'
import { callTool, connectHttp, onePendingOf, respond } from '../support/mcp.ts'
import { adminKey, type RestOptions, startServer, type TestServer } from '../support/server.ts'

/** Every route that the server really has, as it registers them. */
const routes = vi.hoisted(() => [] as string[])
vi.mock('../../src/http.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/http.ts')>()
  return {
    createHttp(options: Parameters<typeof original.createHttp>[0]) {
      const http = original.createHttp(options)
      http.addHook('onRoute', ({ method, url }) => {
        for (const each of [method].flat()) routes.push(`${each} ${url}`)
      })
      return http
    },
  }
})

/** Bound keys have the strongest role: it is the binding that they are judged by. */
const callers = [
  'nobody',
  'a wrong key',
  'viewer',
  'responder',
  'launcher',
  'operator',
  'admin',
  'bound to the session',
  'bound to another session',
] as const
type Caller = (typeof callers)[number]
type Verdicts = Partial<Record<Caller, string | number>>

let server: TestServer
let session: TestSession
let other: TestSession
let gateToken: string
const keys: Partial<Record<Caller, string>> = { 'a wrong key': 'hp_12345678_not-a-key', admin: adminKey }

beforeAll(async () => {
  server = await startServer({
    environment: { HOLDPOINT_TRUST_PROXY: '127.0.0.1', HOLDPOINT_GATE_ACCESS: 'mixed' },
  })
  ;[session, other] = [await createSession(server), await createSession(server)]
  const newKey = async (role: string, sessionId?: string): Promise<string> => {
    const { createApiKey } = await server.graphql(
      'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { ... on CreateApiKeySuccess { secret } } }',
      { input: { name: `a ${role}`, role: role.toUpperCase(), sessionId } },
    )
    return createApiKey.secret
  }
  for (const role of ['viewer', 'responder', 'launcher', 'operator'] as const) keys[role] = await newKey(role)
  keys['bound to the session'] = await newKey('admin', session.id)
  keys['bound to another session'] = await newKey('admin', other.id)
  const { rotateGateToken } = await server.graphql(
    'mutation($s: ID!) { rotateGateToken(sessionId: $s) { ... on RotateGateTokenSuccess { gateToken { url } } } }',
    { s: session.id },
  )
  gateToken = new URL(rotateGateToken.gateToken.url).pathname.split('/')[4]!
})
afterAll(() => server?.[Symbol.asyncDispose]())

let callersSoFar = 0
/** Each call comes from an address of its own, so that no limit on one answers in place of a rule. */
const fromElsewhere = () => {
  callersSoFar++
  return { 'x-forwarded-for': `10.0.${callersSoFar >> 8}.${callersSoFar & 255}` }
}

let waiting: string[] = []
/** A request of the session that waits, on the plain address or on the session's own. */
async function pending(address = '/api/v1/elicitations'): Promise<string> {
  const { status, body } = await server.rest('POST', address, {
    body: { ...question(), requestedSchema: confirmSchema },
    headers: fromElsewhere(),
  })
  expect(status).toBe(201)
  return body.requestId
}
afterEach(async () => {
  for (const id of waiting)
    await server.rest('PATCH', `/api/v1/elicitations/${id}/respond`, {
      key: adminKey,
      body: { action_type: 'cancel' },
    })
  waiting = []
})

/** The same for all of them. */
const all = (verdict: string | number): Verdicts =>
  Object.fromEntries(callers.map((caller) => [caller, verdict]))
const people = (verdict: string | number): Verdicts => ({
  viewer: verdict,
  responder: verdict,
  launcher: verdict,
  operator: verdict,
  admin: verdict,
})
const bound = (verdict: string | number): Verdicts => ({
  'bound to the session': verdict,
  'bound to another session': verdict,
})
const strangers = (verdict: string | number): Verdicts => ({ nobody: verdict, 'a wrong key': verdict })
const answering = (verdict: string | number): Verdicts => ({
  responder: verdict,
  operator: verdict,
  admin: verdict,
})

interface RouteRule {
  /** What is sent, and where a request has to wait for it first, that request. */
  send: (caller: Caller) => Promise<RestOptions & { path: string }> | (RestOptions & { path: string })
  /** A status, or the code of the refusal. */
  expected: Verdicts
}

const sameOrigin = { 'sec-fetch-site': 'same-origin' }
const open = (path: string, status: number): RouteRule => ({
  send: () => ({ path }),
  expected: all(status),
})
const gate = () => `/api/v1/gate/${gateToken}/elicitations`
function question() {
  const id = requestId()
  waiting.push(id)
  return {
    message: 'Go?',
    _meta: { 'com.pulsemcp/request-id': id, 'com.pulsemcp/session-id': session.id },
  }
}

/** Who may call what. Every route has a line, or the first test fails. */
const rules: Record<string, RouteRule> = {
  'POST /api/v1/elicitations': {
    send: () => ({ path: '/api/v1/elicitations', body: question() }),
    expected: all(201),
  },
  'GET /api/v1/elicitations/:request_id': {
    send: async () => ({ path: `/api/v1/elicitations/${await pending()}?wait=0` }),
    expected: all(200),
  },
  'DELETE /api/v1/elicitations/:request_id': {
    send: async () => ({ path: `/api/v1/elicitations/${await pending()}` }),
    expected: { ...all('NOT_THE_REQUESTER'), ...answering(200), 'bound to the session': 200 },
  },
  'POST /api/v1/gate/:token/elicitations': {
    send: () => ({ path: gate(), body: question() }),
    expected: all(201),
  },
  'GET /api/v1/gate/:token/elicitations/:request_id': {
    send: async () => ({ path: `${gate()}/${await pending(gate())}?wait=0` }),
    expected: all(200),
  },
  'DELETE /api/v1/gate/:token/elicitations/:request_id': {
    send: async () => ({ path: `${gate()}/${await pending(gate())}` }),
    expected: all(200),
  },
  'PATCH /api/v1/elicitations/:id/respond': {
    send: async () => ({
      path: `/api/v1/elicitations/${await pending()}/respond`,
      body: { action_type: 'accept' },
    }),
    expected: {
      ...strangers('UNAUTHENTICATED'),
      ...people('FORBIDDEN'),
      ...answering(200),
      ...bound('FORBIDDEN'),
      'bound to the session': 'SELF_APPROVAL',
    },
  },
  'POST /api/v1/hooks/claude-code': {
    // Whoever gets past the key is told what is wrong with the body.
    send: () => ({ path: '/api/v1/hooks/claude-code', body: {} }),
    expected: { ...strangers('UNAUTHENTICATED'), ...people('FORBIDDEN'), ...bound('INVALID_INPUT') },
  },
  'POST /api/v1/sign-in': {
    send: (caller) => ({ path: '/api/v1/sign-in', body: { key: keys[caller] ?? 'none' } }),
    expected: { ...strangers('UNAUTHENTICATED'), ...people(200), ...bound('UNAUTHENTICATED') },
  },
  'POST /api/v1/sign-out': {
    send: () => ({ path: '/api/v1/sign-out', headers: sameOrigin }),
    expected: all(204),
  },
  'GET /api/v1/push/public-key': {
    send: () => ({ path: '/api/v1/push/public-key' }),
    expected: { ...strangers('UNAUTHENTICATED'), ...people(200), ...bound('FORBIDDEN') },
  },
  'POST /api/v1/push/subscriptions': {
    send: () => ({ path: '/api/v1/push/subscriptions', body: {} }),
    expected: { ...strangers('UNAUTHENTICATED'), ...people('INVALID_INPUT'), ...bound('FORBIDDEN') },
  },
  'DELETE /api/v1/push/subscriptions': {
    send: () => ({ path: '/api/v1/push/subscriptions', body: {} }),
    expected: { ...strangers('UNAUTHENTICATED'), ...people('INVALID_INPUT'), ...bound('FORBIDDEN') },
  },
  'POST /api/v1/push/test': {
    send: () => ({ path: '/api/v1/push/test', body: {} }),
    expected: { ...strangers('UNAUTHENTICATED'), ...people('INVALID_INPUT'), ...bound('FORBIDDEN') },
  },
  'GET /api/v1/notifications': {
    send: () => ({ path: '/api/v1/notifications' }),
    expected: {
      ...strangers('UNAUTHENTICATED'),
      ...people('FORBIDDEN'),
      admin: 200,
      ...bound('FORBIDDEN'),
    },
  },
  'POST /api/v1/notifications/:id/resend': {
    send: () => ({ path: '/api/v1/notifications/none/resend' }),
    expected: {
      ...strangers('UNAUTHENTICATED'),
      ...people('FORBIDDEN'),
      admin: 'NOT_FOUND',
      ...bound('FORBIDDEN'),
    },
  },
  // Who may do what inside of it is a table of its own, over the whole schema.
  'POST /graphql': {
    send: () => ({ path: '/graphql', body: { query: '{ viewer { name } }' } }),
    expected: { ...all(200), ...strangers(401) },
  },
  'GET /graphql': {
    send: () => ({ path: '/graphql?query={viewer{name}}' }),
    expected: { ...all(200), ...strangers(401) },
  },
  'OPTIONS /graphql': open('/graphql', 204),
  'POST /mcp': {
    send: () => ({
      path: '/mcp',
      headers: { accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    }),
    expected: { ...all(200), ...strangers(401) },
  },
  'GET /mcp': open('/mcp', 405),
  'DELETE /mcp': open('/mcp', 405),
  'GET /livez': open('/livez', 200),
  'GET /readyz': open('/readyz', 200),
  'GET /metrics': open('/metrics', 200),
  'GET /': open('/', 200),
  'GET /*': open('/no-such-thing', 404),
}

/** The built page's own files are open, and nothing but files. */
function isFileOfThePage(route: string): boolean {
  const [method, path] = route.split(' ') as [string, string]
  return method === 'GET' && existsSync(join(import.meta.dirname, '../../dist/dashboard', path))
}

test('every route has a rule in the table of this test', () => {
  const found = new Set(routes)
  // A HEAD is answered by the GET of the same path.
  for (const route of found)
    if (route.startsWith('HEAD ')) expect([...found]).toContain(route.replace('HEAD', 'GET'))
  const named = [...found].filter(
    (route) => !route.startsWith('HEAD ') && (Object.hasOwn(rules, route) || !isFileOfThePage(route)),
  )
  expect(named.toSorted()).toEqual(Object.keys(rules).toSorted())
  for (const [route, { expected }] of Object.entries(rules))
    expect(Object.keys(expected).toSorted(), route).toEqual([...callers].toSorted())
})

describe.each(callers)('%s', (caller) => {
  test.each(Object.entries(rules))('%s', async (route, { send, expected }) => {
    const { path, ...options } = await send(caller)
    const { status, body } = await server.rest(route.split(' ')[0]!, path, {
      ...options,
      key: keys[caller],
      headers: { ...options.headers, ...fromElsewhere() },
    })
    const verdict = typeof expected[caller] === 'number' ? status : body.code
    expect(verdict, JSON.stringify(body)).toBe(expected[caller])
  })
})

interface ToolRule {
  args: () => Promise<Record<string, unknown>> | Record<string, unknown>
  /** `ok`, or the code of the refusal. */
  expected: Verdicts
  /** Waits for a person. */
  asks?: true
}

const holders = callers.filter((caller) => caller !== 'nobody' && caller !== 'a wrong key')
const toolRules: Record<string, ToolRule> = {
  ask_person: {
    args: () => ({ message: 'May I?' }),
    expected: { ...people('FORBIDDEN'), ...bound('ok') },
    asks: true,
  },
  approve_tool_use: {
    args: () => ({ tool_name: 'Bash', input: { command: 'ls' } }),
    expected: { ...people('FORBIDDEN'), ...bound('ok') },
    asks: true,
  },
  // Only what was asked with the very same key is waited for.
  await_answer: {
    args: async () => ({ request_id: await pending(), wait_seconds: 0 }),
    expected: { ...people('NOT_FOUND'), ...bound('NOT_FOUND') },
  },
  list_pending_elicitations: { args: () => ({}), expected: { ...people('ok'), ...bound('ok') } },
  get_elicitation: {
    args: async () => ({ request_id: await pending() }),
    expected: { ...people('ok'), 'bound to the session': 'ok', 'bound to another session': 'NOT_FOUND' },
  },
  get_session: {
    args: () => ({ session_id: session.id }),
    expected: { ...people('ok'), 'bound to the session': 'ok', 'bound to another session': 'NOT_FOUND' },
  },
  respond_to_elicitation: {
    args: async () => ({ request_id: await pending(), action_type: 'accept' }),
    expected: {
      ...people('FORBIDDEN'),
      ...answering('ok'),
      ...bound('FORBIDDEN'),
      'bound to the session': 'SELF_APPROVAL',
    },
  },
}

test('every MCP tool has a rule in the table of this test', async () => {
  const client = await connectHttp(server)
  const { tools } = await client.listTools()
  await client.close()
  expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(toolRules).toSorted())
  for (const [tool, { expected }] of Object.entries(toolRules))
    expect(Object.keys(expected).toSorted(), tool).toEqual([...holders].toSorted())
})

describe.each(holders)('over MCP, %s', (caller) => {
  test.each(Object.entries(toolRules))('%s', async (tool, { args, expected, asks }) => {
    const client = await connectHttp(server, keys[caller])
    const calling = callTool(client, tool, await args())
    if (asks && expected[caller] === 'ok') {
      const asking = caller === 'bound to the session' ? session : other
      await respond(server, (await onePendingOf(server, asking.id)).requestId, { action_type: 'accept' })
    }
    const { isError, text } = await calling
    await client.close()
    expect(isError ? text.split(':')[0] : 'ok', text).toBe(expected[caller])
  })

  test('the queue shows a bound key its own session alone', async () => {
    const mine = await pending()
    const client = await connectHttp(server, keys[caller])
    const { text } = await callTool(client, 'list_pending_elicitations')
    await client.close()
    expect(text.includes(mine)).toBe(caller !== 'bound to another session')
  })
})
