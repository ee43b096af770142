import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { findGateAddress, type GateAddress } from '../../src/bridge/gate-address.ts'
import { createGateClient } from '../../src/bridge/gate-client.ts'
import { formQuestion } from '../../src/mcp/asker.ts'

interface Answer {
  status: number
  body: unknown
  headers?: Record<string, string>
}

/** A server that answers as it is told, and remembers what it was sent. */
async function playServer(answer: (request: IncomingMessage, body: any, count: number) => Answer) {
  const requests: { method: string; url: string; headers: IncomingMessage['headers']; body: any }[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body = text === '' ? null : JSON.parse(text)
    requests.push({ method: request.method!, url: request.url!, headers: request.headers, body })
    const { status, body: answered, headers = {} } = answer(request, body, requests.length)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof answered === 'string' ? answered : JSON.stringify(answered))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  return {
    url,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const created = (body: any): Answer => ({
  status: 201,
  body: {
    action: 'pending',
    requestId: body._meta['com.pulsemcp/request-id'],
    _meta: { 'holdpoint/withdraw': 'token' },
  },
})

function clientOf(url: string, more: Partial<GateAddress> = {}) {
  const logged: string[] = []
  const address = {
    requestUrl: `${url}/ask`,
    pollUrl: `${url}/poll/`,
    sessionId: 's-1',
    apiKey: null,
    ttlMs: null,
    ...more,
  }
  return { gate: createGateClient(address, { log: (message) => logged.push(message) }), logged }
}

const never = new AbortController().signal
const question = formQuestion({ message: 'Go?', toolName: 'deploy', serverName: 'ci' })

describe('asking over HTTP', () => {
  it('says who asks, and lets no question say so itself', async () => {
    await using server = await playServer((request, body) =>
      request.method === 'POST'
        ? created(body)
        : { status: 200, body: { action: 'accept', content: { a: 1 }, _meta: { 'holdpoint/note': 'n' } } },
    )
    const { gate } = clientOf(server.url, { ttlMs: 60_000, sessionId: null })
    const meta = JSON.parse(
      '{"com.pulsemcp/session-id":"another","com.pulsemcp/request-id":"theirs","holdpoint/server-name":"another","com.pulsemcp/context":"theirs","__proto__":1,"kept":true}',
    )
    const outcome = await gate.hold(formQuestion({ message: 'Go?', serverName: null, meta }), never)
    expect(outcome).toEqual({ action: 'accept', content: { a: 1 }, note: 'n' })
    const [post, poll] = server.requests
    expect(post).toMatchObject({
      method: 'POST',
      url: '/ask',
      body: { mode: 'form', message: 'Go?', requestedSchema: {} },
    })
    const {
      'com.pulsemcp/request-id': requestId,
      'com.pulsemcp/expires-at': expiresAt,
      ...rest
    } = post!.body._meta
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now())
    expect(Object.entries(rest)).toEqual([
      ['__proto__', 1],
      ['kept', true],
    ])
    expect(poll!.url).toBe(`/poll/${requestId}?wait=25.0`)
  })

  it('sends the same request again after an outage, and waits as long as the server says', async () => {
    await using server = await playServer((request, body, count) => {
      if (count === 1) return { status: 503, body: { code: 'DATABASE_UNAVAILABLE', message: 'not now' } }
      if (count === 2)
        return {
          status: 429,
          body: { code: 'TOO_MANY_PENDING_PER_ADDRESS', message: 'later' },
          headers: { 'retry-after': '1' },
        }
      return request.method === 'POST'
        ? created(body)
        : { status: 200, body: { action: 'decline', content: null } }
    })
    const { gate, logged } = clientOf(server.url)
    const begun = performance.now()
    expect(await gate.hold(question, never)).toEqual({ action: 'decline', content: null, note: null })
    expect(performance.now() - begun).toBeGreaterThan(1_000)
    const ids = server.requests.slice(0, 3).map(({ body }) => body._meta['com.pulsemcp/request-id'])
    expect(new Set(ids).size).toBe(1)
    expect(logged).toEqual([expect.stringContaining('not now'), 'Holdpoint can be asked again.'])
  })

  it('takes a question back with the token that its creation returned', async () => {
    await using server = await playServer((request, body) =>
      request.method === 'POST'
        ? created(body)
        : {
            status: 200,
            body: { action: request.method === 'DELETE' ? 'cancel' : 'pending', content: null },
          },
    )
    const { gate } = clientOf(server.url, { apiKey: 'a key' })
    const leave = new AbortController()
    const held = gate.hold(question, leave.signal)
    await expect.poll(() => server.requests.length).toBeGreaterThan(1)
    leave.abort()
    expect(await held).toBeNull()
    expect(server.requests.at(-1)).toMatchObject({
      method: 'DELETE',
      headers: { 'holdpoint-withdraw': 'token', 'x-api-key': 'a key' },
    })
  })

  it.each([
    [
      'a refusal',
      { status: 409, body: { code: 'SESSION_ARCHIVED', message: 'archived' } },
      'SESSION_ARCHIVED',
    ],
    ['a page of something else', { status: 200, body: '<html>' }, 'NOT_HOLDPOINT'],
    ['a redirect', { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } }, 'NOT_HOLDPOINT'],
    ['nothing at that address', { status: 404, body: 'Not Found' }, 'NOT_HOLDPOINT'],
  ] as [string, Answer, string][])('gives up at once on %s', async (_, answer, code) => {
    await using server = await playServer(() => answer)
    const { gate } = clientOf(server.url)
    await expect(gate.hold(question, never)).rejects.toMatchObject({ code })
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  it.each([
    ['an action that the wire does not know', { action: 'approved' }, 'NOT_HOLDPOINT'],
    ['no action', {}, 'NOT_HOLDPOINT'],
  ])('never takes %s for an answer', async (_, polled, code) => {
    await using server = await playServer((request, body) =>
      request.method === 'POST' ? created(body) : { status: 200, body: polled },
    )
    await expect(clientOf(server.url).gate.hold(question, never)).rejects.toMatchObject({ code })
  })

  it('shows no token of a capability address when it complains', async () => {
    const { gate, logged } = clientOf('http://127.0.0.1:1', {
      requestUrl: 'http://127.0.0.1:1/api/v1/gate/secret-token/elicitations',
      ttlMs: 1,
    })
    const error = await gate.hold(question, never).catch((each) => each)
    expect(error).toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining('/gate/…/elicitations'),
    })
    expect([error.message, ...logged].join('\n')).not.toContain('secret-token')
  })
})

describe('where to ask', () => {
  const five = {
    ELICITATION_REQUEST_URL: 'http://h/r',
    ELICITATION_POLL_URL: 'http://h/p',
    ELICITATION_SESSION_ID: 's-1',
    ELICITATION_TTL_MS: '300000',
  }
  it.each([
    [
      'the five variables',
      five,
      { requestUrl: 'http://h/r', pollUrl: 'http://h/p', sessionId: 's-1', apiKey: null, ttlMs: 300_000 },
    ],
    [
      'those, before an address and a key',
      { ...five, HOLDPOINT_URL: 'http://x', HOLDPOINT_API_KEY: 'k' },
      { requestUrl: 'http://h/r', apiKey: null },
    ],
    [
      'a request address alone',
      { ELICITATION_REQUEST_URL: 'http://h/r' },
      { pollUrl: 'http://h/r', sessionId: null, ttlMs: null },
    ],
    [
      'an address and a key',
      { HOLDPOINT_URL: 'http://x/', HOLDPOINT_API_KEY: 'k' },
      { requestUrl: 'http://x/api/v1/elicitations', pollUrl: 'http://x/api/v1/elicitations', apiKey: 'k' },
    ],
    [
      'an address and a session',
      { HOLDPOINT_URL: 'http://x', ELICITATION_SESSION_ID: 's-1' },
      { sessionId: 's-1', apiKey: null },
    ],
  ])('is said by %s', (_, environment, address) => {
    expect(findGateAddress(environment)).toMatchObject(address)
  })

  it.each([{}, { HOLDPOINT_URL: 'http://x' }, { HOLDPOINT_API_KEY: 'k' }, { ELICITATION_REQUEST_URL: ' ' }])(
    'is not said by %j',
    (environment) => {
      expect(findGateAddress(environment)).toBeNull()
    },
  )
})
