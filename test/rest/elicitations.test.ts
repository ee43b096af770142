import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { confirmSchema, createSession, post, requestId } from '../support/ask.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())

describe('creating a request', () => {
  it('answers 201 with the request id and an absolute poll address', async () => {
    const session = await createSession(server)
    const id = requestId()
    const { status, body } = await post(server, session.id, { id })
    expect(status).toBe(201)
    expect(body).toEqual({
      action: 'pending',
      requestId: id,
      _meta: {
        'com.pulsemcp/request-id': id,
        'com.pulsemcp/poll-url': `${server.url}/api/v1/elicitations/${id}`,
        'holdpoint/withdraw': expect.stringMatching(/^[\w-]{43}$/),
      },
    })
  })

  it('finds the session by its slug too', async () => {
    const session = await createSession(server)
    expect((await post(server, session.slug)).status).toBe(201)
  })

  it('answers the same request again with the same body and creates nothing', async () => {
    const session = await createSession(server)
    const id = requestId()
    const first = await post(server, session.id, { id })
    const again = await post(server, session.id, { id })
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
  })

  it('refuses a request id that belongs to another request', async () => {
    const session = await createSession(server)
    const id = requestId()
    await post(server, session.id, { id })
    const other = await post(server, session.id, { id, message: 'Something else?' })
    expect(other).toMatchObject({
      status: 422,
      body: { code: 'REQUEST_ID_TAKEN', error: expect.any(String), messages: [expect.any(String)] },
    })
  })

  it('refuses a request id that is the id of another request, by which somebody may be about to answer', async () => {
    const session = await createSession(server)
    const { body } = await post(server, session.id)
    const find = (requestId: string) =>
      server.graphql('query($r: String!) { elicitation(requestId: $r) { id } }', { r: requestId })
    const { id } = (await find(body.requestId)).elicitation
    for (const taken of [id, id.toUpperCase()])
      expect(await post(server, session.id, { id: taken, message: 'Another one?' })).toMatchObject({
        status: 422,
        body: { code: 'REQUEST_ID_TAKEN' },
      })
    const answered = await server.rest('PATCH', `/api/v1/elicitations/${id}/respond`, {
      key: adminKey,
      body: { action_type: 'accept' },
    })
    expect(answered.body._meta['com.pulsemcp/request-id']).toBe(body.requestId)
  })

  it('replays a resolved request until its answer was delivered, and then calls the id taken', async () => {
    const session = await createSession(server)
    const id = requestId()
    await post(server, session.id, { id })
    await server.rest('PATCH', `/api/v1/elicitations/${id}/respond`, {
      key: adminKey,
      body: { action_type: 'decline' },
    })
    expect((await post(server, session.id, { id })).status).toBe(200)
    await server.rest('GET', `/api/v1/elicitations/${id}`)
    expect(await post(server, session.id, { id })).toMatchObject({
      status: 422,
      body: { code: 'REQUEST_ID_TAKEN' },
    })
  })

  it.each([
    ['no message', { message: null }, 'message'],
    ['a blank message', { message: ' \n ' }, 'message'],
    ['a message that is no text', { message: 5 }, 'message'],
    ['a message over 16 KiB', { message: 'x'.repeat(16 * 1024 + 1) }, 'message'],
    ['an unknown mode', { mode: 'carrier-pigeon' }, 'mode'],
    ['a schema that is a list', { requestedSchema: [] }, 'requestedSchema'],
    ['url mode without a url', { mode: 'url' }, 'url'],
    ['url mode with a script', { mode: 'url', url: 'javascript:alert(1)' }, 'url'],
    [
      '101 properties',
      {
        requestedSchema: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: 101 }, (_, i) => [`p${i}`, { type: 'string' }]),
          ),
        },
      },
      '100',
    ],
    [
      'a schema over 64 KiB',
      {
        requestedSchema: {
          type: 'object',
          properties: { a: { type: 'string', description: 'x'.repeat(65 * 1024) } },
        },
      },
      '64',
    ],
  ])('refuses %s with 422', async (_, change, word) => {
    const session = await createSession(server)
    const { status, body } = await post(server, session.id, change)
    expect(status).toBe(422)
    expect(body.message).toContain(word)
    expect(body).toEqual({
      error: expect.any(String),
      message: expect.any(String),
      messages: expect.any(Array),
      code: 'INVALID_INPUT',
    })
  })

  it.each([
    ['no request id', undefined],
    ['a blank request id', '  '],
    ['a request id with a slash', 'a/b'],
    ['a request id of 201 characters', 'x'.repeat(201)],
    ['the request id of the probe', 'holdpoint-reachability-probe'],
    ['a request id that is a number', 7],
  ])('refuses %s with 422', async (_, id) => {
    const session = await createSession(server)
    const { status, body } = await server.rest('POST', '/api/v1/elicitations', {
      body: {
        message: 'Go?',
        _meta: { 'com.pulsemcp/session-id': session.id, 'com.pulsemcp/request-id': id },
      },
    })
    expect(status).toBe(422)
    expect(body.code).toBe('INVALID_INPUT')
  })

  it('reports every fault at once', async () => {
    const { body } = await server.rest('POST', '/api/v1/elicitations', { body: { mode: 'x', message: '' } })
    expect(body.messages.length).toBeGreaterThanOrEqual(3)
  })

  it.each(['.', '..'])('refuses the request id %s, which no client could poll', async (id) => {
    const session = await createSession(server)
    expect(await post(server, session.id, { id })).toMatchObject({
      status: 422,
      body: { code: 'INVALID_INPUT' },
    })
  })

  it('answers 404 for an unknown session and says which id was looked for', async () => {
    const { status, body } = await post(server, 'no-such-session')
    expect(status).toBe(404)
    expect(body.message).toContain('no-such-session')
  })

  it('logs a blank session id as the warning that it is, and an unknown one at info', async () => {
    expect((await post(server, '')).status).toBe(404)
    expect((await post(server, 'unknown-here')).status).toBe(404)
    const levels = server.logLines
      .map((line) => JSON.parse(line))
      .filter((line) => /blank session id|unknown session/.test(line.msg))
    expect(levels).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ level: 40 }),
        expect.objectContaining({ level: 30, session: 'unknown-here' }),
      ]),
    )
  })

  it('answers 409 for an archived session', async () => {
    const session = await createSession(server)
    await server.graphql(`mutation($id: ID!) { archiveSession(id: $id) { __typename } }`, { id: session.id })
    expect(await post(server, session.id)).toMatchObject({ status: 409, body: { code: 'SESSION_ARCHIVED' } })
  })

  it('keeps names like __proto__ and constructor as data', async () => {
    const session = await createSession(server)
    const id = requestId()
    const created = await server.rest('POST', '/api/v1/elicitations', {
      body: `{"message":"Go?","requestedSchema":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["__proto__"]},"_meta":{"com.pulsemcp/request-id":"${id}","com.pulsemcp/session-id":"${session.id}"}}`,
    })
    expect(created.status).toBe(201)
    const refused = await server.rest('PATCH', `/api/v1/elicitations/${id}/respond`, {
      key: adminKey,
      body: `{"action_type":"accept","content":{"constructor":"c"}}`,
    })
    expect(refused.body).toMatchObject({ code: 'INVALID_CONTENT' })
    const accepted = await fetch(`${server.url}/api/v1/elicitations/${id}/respond`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'x-api-key': adminKey },
      body: `{"action_type":"accept","content":{"__proto__":"p","constructor":"c"}}`,
    })
    expect(accepted.status).toBe(200)
    expect(await accepted.text()).toContain('{"__proto__":"p","constructor":"c"}')
  })

  it('takes a U+0000 anywhere without an error of its own', async () => {
    const session = await createSession(server)
    const nul = String.fromCharCode(0)
    const { status } = await post(server, session.id, {
      message: `a${nul}b`,
      requestedSchema: {
        type: 'object',
        properties: { [`n${nul}`]: { type: 'string', title: nul, default: nul } },
      },
      meta: { 'com.pulsemcp/context': nul, other: nul },
    })
    expect(status).toBe(201)
    expect((await post(server, `x${nul}`)).status).toBe(404)
  })
})

describe('who may call the open addresses', () => {
  it.each([
    ['a foreign Origin', { origin: 'https://evil.example' }, 403, 'FOREIGN_ORIGIN'],
    ['text instead of JSON', { 'content-type': 'text/plain' }, 415, 'NOT_JSON'],
    ['a form instead of JSON', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'NOT_JSON'],
  ])('refuses %s', async (_, headers, status, code) => {
    const session = await createSession(server)
    const result = await server.rest('POST', '/api/v1/elicitations', {
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        message: 'Go?',
        _meta: { 'com.pulsemcp/request-id': requestId(), 'com.pulsemcp/session-id': session.id },
      }),
    })
    expect(result).toMatchObject({ status, body: { code } })
  })

  it('refuses a Host that a web page chose', async () => {
    const { request } = await import('node:http')
    const { hostname, port } = new URL(server.url)
    const status = await new Promise((resolve) =>
      request(
        { hostname, port, path: '/api/v1/elicitations/x', headers: { host: 'rebound.example' } },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      ).end(),
    )
    expect(status).toBe(403)
  })

  it('answers malformed JSON with 400 and a body over 256 KiB with 413', async () => {
    expect(
      await server.rest('POST', '/api/v1/elicitations', {
        headers: { 'content-type': 'application/json' },
        body: '{"a":',
      }),
    ).toMatchObject({ status: 400, body: { code: 'MALFORMED_JSON' } })
    expect(
      await server.rest('POST', '/api/v1/elicitations', { body: { message: 'x'.repeat(256 * 1024) } }),
    ).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE' } })
  })
})

describe('polling', () => {
  it('answers pending, uncached, and 404 for what nobody asked', async () => {
    const session = await createSession(server)
    const { body } = await post(server, session.id)
    const polled = await server.rest('GET', `/api/v1/elicitations/${body.requestId}?wait=0`)
    expect(polled.status).toBe(200)
    expect(polled.headers.get('cache-control')).toBe('no-store')
    expect(polled.body).toEqual({
      action: 'pending',
      content: null,
      _meta: { 'com.pulsemcp/request-id': body.requestId },
    })
    expect((await server.rest('GET', '/api/v1/elicitations/nobody-asked-this?wait=0')).status).toBe(404)
  })

  it('never finds a request by our own id', async () => {
    const session = await createSession(server)
    const { body } = await post(server, session.id)
    const { elicitation } = await server.graphql(`query($r: String!) { elicitation(requestId: $r) { id } }`, {
      r: body.requestId,
    })
    expect((await server.rest('GET', `/api/v1/elicitations/${elicitation.id}?wait=0`)).status).toBe(404)
  })

  it('does not take a HEAD for a delivery', async () => {
    const { body } = await post(server, (await createSession(server)).id)
    const path = `/api/v1/elicitations/${body.requestId}`
    await server.rest('PATCH', `${path}/respond`, { key: adminKey, body: { action_type: 'accept' } })
    await server.rest('HEAD', path)
    const { elicitation } = await server.graphql(
      `query($r: String!) { elicitation(requestId: $r) { deliveredAt } }`,
      { r: body.requestId },
    )
    expect(elicitation.deliveredAt).toBeNull()
  })

  it('holds a poll until the answer comes, and carries it away', async () => {
    const session = await createSession(server)
    const id = requestId()
    await post(server, session.id, { id, requestedSchema: confirmSchema })
    const held = server.rest('GET', `/api/v1/elicitations/${id}?wait=30`)
    await listening(id)
    const answered = await server.rest('PATCH', `/api/v1/elicitations/${id}/respond`, {
      key: adminKey,
      body: { action_type: 'accept', content: { confirm: true }, note: 'go on' },
    })
    expect(answered).toMatchObject({ status: 200, body: { action: 'accept', delivery: 'waiting' } })
    expect((await held).body).toEqual({
      action: 'accept',
      content: { confirm: true },
      _meta: {
        'com.pulsemcp/request-id': id,
        'com.pulsemcp/responded-at': expect.stringMatching(/^\d{4}-.*Z$/),
        'holdpoint/note': 'go on',
      },
    })
    const { elicitation } = await server.graphql(
      `query($r: String!) { elicitation(requestId: $r) { deliveredAt } }`,
      { r: id },
    )
    expect(elicitation.deliveredAt).not.toBeNull()
  })

  it('does not hold more than four polls of one request', async () => {
    const session = await createSession(server)
    const id = requestId()
    await post(server, session.id, { id })
    const abort = new AbortController()
    const held = Array.from({ length: 4 }, () =>
      server.rest('GET', `/api/v1/elicitations/${id}?wait=30`, { signal: abort.signal }).catch(() => 'left'),
    )
    await expect.poll(() => server.app.heldPolls()).toBe(4)
    expect((await server.rest('GET', `/api/v1/elicitations/${id}?wait=30`)).body.action).toBe('pending')
    abort.abort()
    await Promise.all(held)
    await expect.poll(() => server.app.heldPolls()).toBe(0)
  })

  async function listening(id: string): Promise<void> {
    await expect
      .poll(
        async () =>
          (await server.graphql(`query($r: String!) { elicitation(requestId: $r) { listening } }`, { r: id }))
            .elicitation.listening,
      )
      .toBe('LISTENING')
  }
})

describe('answering', () => {
  it('asks for a key, and for the role', async () => {
    const { body } = await post(server, (await createSession(server)).id)
    const path = `/api/v1/elicitations/${body.requestId}/respond`
    expect(await server.rest('PATCH', path, { body: { action_type: 'accept' } })).toMatchObject({
      status: 401,
      body: { code: 'UNAUTHENTICATED' },
    })
    expect(await server.rest('PATCH', path, { key: 'wrong', body: { action_type: 'accept' } })).toMatchObject(
      { status: 401 },
    )
    const { createApiKey } = await server.graphql(
      `mutation { createApiKey(input: {name: "eyes", role: VIEWER}) { ... on CreateApiKeySuccess { secret } } }`,
    )
    expect(
      await server.rest('PATCH', path, { key: createApiKey.secret, body: { action_type: 'accept' } }),
    ).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
  })

  it('answers by our own id too, and takes content as a string that holds JSON', async () => {
    const { body } = await post(server, (await createSession(server)).id, { requestedSchema: confirmSchema })
    const { elicitation } = await server.graphql(`query($r: String!) { elicitation(requestId: $r) { id } }`, {
      r: body.requestId,
    })
    const answered = await server.rest('PATCH', `/api/v1/elicitations/${elicitation.id}/respond`, {
      headers: { authorization: `Bearer ${adminKey}` },
      body: { action_type: 'accept', content: '{"confirm":false}' },
    })
    expect(answered).toMatchObject({
      status: 200,
      body: { action: 'accept', content: { confirm: false }, delivery: 'no_waiter' },
    })
  })

  it.each([
    ['an unknown action', { action_type: 'maybe' }, 'action_type'],
    ['no action', {}, 'action_type'],
    ['an unknown key', { action: 'accept' }, 'use action_type'],
    ['content that is a list', { action_type: 'accept', content: [] }, 'content'],
    ['content that is a string of something else', { action_type: 'accept', content: '[1]' }, 'content'],
    ['a note that is too long', { action_type: 'decline', note: 'x'.repeat(2_001) }, '2000'],
  ])('refuses %s with 422 and leaves the request pending', async (_, answer, word) => {
    const { body } = await post(server, (await createSession(server)).id)
    const refused = await server.rest('PATCH', `/api/v1/elicitations/${body.requestId}/respond`, {
      key: adminKey,
      body: answer,
    })
    expect(refused.status).toBe(422)
    expect(refused.body.message).toContain(word)
    expect((await server.rest('GET', `/api/v1/elicitations/${body.requestId}?wait=0`)).body.action).toBe(
      'pending',
    )
  })

  it('names each field of invalid content, and takes the corrected answer', async () => {
    const { body } = await post(server, (await createSession(server)).id, {
      requestedSchema: {
        type: 'object',
        properties: { region: { type: 'string', enum: ['eu', 'us'] } },
        required: ['region'],
      },
    })
    const path = `/api/v1/elicitations/${body.requestId}/respond`
    const refused = await server.rest('PATCH', path, {
      key: adminKey,
      body: { action_type: 'accept', content: { region: 'mars', extra: 1 } },
    })
    expect(refused).toMatchObject({
      status: 422,
      body: {
        code: 'INVALID_CONTENT',
        fields: { region: ['Choose one of the listed options.'], extra: [expect.any(String)] },
      },
    })
    expect(
      (
        await server.rest('PATCH', path, {
          key: adminKey,
          body: { action_type: 'accept', content: { region: 'eu' } },
        })
      ).status,
    ).toBe(200)
  })

  it('tells the second one who was first, and the same one again that it worked', async () => {
    const { body } = await post(server, (await createSession(server)).id)
    const path = `/api/v1/elicitations/${body.requestId}/respond`
    const first = await server.rest('PATCH', path, { key: adminKey, body: { action_type: 'decline' } })
    const again = await server.rest('PATCH', path, { key: adminKey, body: { action_type: 'decline' } })
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body._meta).toEqual(first.body._meta)
    const other = await server.rest('PATCH', path, { key: adminKey, body: { action_type: 'accept' } })
    expect(other).toMatchObject({
      status: 422,
      body: {
        code: 'ALREADY_RESOLVED',
        status: 'decline',
        respondedBy: 'admin',
        respondedAt: expect.any(String),
      },
    })
  })

  it('counts the characters of a note, not their code units', async () => {
    const { body } = await post(server, (await createSession(server)).id)
    const respond = (note: string) =>
      server.rest('PATCH', `/api/v1/elicitations/${body.requestId}/respond`, {
        key: adminKey,
        body: { action_type: 'decline', note },
      })
    expect(await respond('😀'.repeat(2_001))).toMatchObject({ status: 422, body: { code: 'INVALID_INPUT' } })
    expect(await respond('😀'.repeat(2_000))).toMatchObject({ status: 200 })
  })

  it('drops content that comes with a decline', async () => {
    const { body } = await post(server, (await createSession(server)).id)
    const path = `/api/v1/elicitations/${body.requestId}`
    await server.rest('PATCH', `${path}/respond`, {
      key: adminKey,
      body: { action_type: 'decline', content: { a: 1 } },
    })
    expect((await server.rest('GET', path)).body).toMatchObject({ action: 'decline', content: null })
  })
})

describe('withdrawing', () => {
  it('is the requester’s alone', async () => {
    const created = await post(server, (await createSession(server)).id)
    const path = `/api/v1/elicitations/${created.body.requestId}`
    expect(await server.rest('DELETE', path)).toMatchObject({ status: 403 })
    expect(await server.rest('DELETE', path, { headers: { 'holdpoint-withdraw': 'guess' } })).toMatchObject({
      status: 403,
    })
    const token = created.body._meta['holdpoint/withdraw']
    expect(await server.rest('DELETE', path, { headers: { 'holdpoint-withdraw': token } })).toMatchObject({
      status: 200,
      body: { action: 'cancel' },
    })
    expect(await server.rest('DELETE', path, { headers: { 'holdpoint-withdraw': token } })).toMatchObject({
      status: 200,
      body: { action: 'cancel' },
    })
    expect(await server.rest('DELETE', '/api/v1/elicitations/nobody-asked')).toMatchObject({ status: 404 })
    const { elicitation } = await server.graphql(
      `query($r: String!) { elicitation(requestId: $r) { cause } }`,
      { r: created.body.requestId },
    )
    expect(elicitation.cause).toBe('WITHDRAWN')
  })

  it('that comes too late collects the answer, which is then never replayed', async () => {
    const session = await createSession(server)
    const created = await post(server, session.id)
    const { requestId, _meta } = created.body
    const path = `/api/v1/elicitations/${requestId}`
    await server.rest('PATCH', `${path}/respond`, { key: adminKey, body: { action_type: 'accept' } })
    const deliveredAt = async () =>
      (
        await server.graphql(`query($r: String!) { elicitation(requestId: $r) { deliveredAt } }`, {
          r: requestId,
        })
      ).elicitation.deliveredAt
    expect(await server.rest('DELETE', path, { key: adminKey })).toMatchObject({ body: { action: 'accept' } })
    expect(await deliveredAt()).toBeNull()
    const headers = { 'holdpoint-withdraw': _meta['holdpoint/withdraw'] }
    expect(await server.rest('DELETE', path, { headers })).toMatchObject({
      status: 200,
      body: { action: 'accept' },
    })
    expect(await deliveredAt()).not.toBeNull()
  })
})
