import type { FormattedExecutionResult } from 'graphql'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createKey, revokeKey } from '../../src/auth/keys.ts'
import { answer } from '../../src/elicitation/answer.ts'
import { expireDueIn } from '../../src/elicitation/expire.ts'
import { systemActor } from '../../src/events/event.ts'
import { commandSession } from '../../src/session/commands.ts'
import { person } from '../support/domain.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'
import { spyOnStatements } from '../support/statements.ts'

let server: GraphqlServer
let clock: () => Date = () => new Date()
beforeAll(async () => {
  server = await startGraphql({ now: () => clock() })
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

type Payload = any
type Results = AsyncIterableIterator<FormattedExecutionResult<Record<string, Payload>, unknown>>

const doors = {
  WebSocket: (query: string, variables: object, key = server.adminKey): Results => {
    const client = server.websocket({ connectionParams: { apiKey: key } })
    return client.iterate({ query, variables: { ...variables } }) as Results
  },
  SSE: (query: string, variables: object, key?: string): Results =>
    server.sse(key).iterate({ query, variables: { ...variables } }) as Results,
}

/** The payloads of the next events that come; fails on an error. */
async function take(results: Results, count: number): Promise<Payload[]> {
  const taken: Payload[] = []
  while (taken.length < count) {
    const { value, done } = await results.next()
    if (done) throw new Error(`ended after ${taken.length} of ${count}`)
    if (value.errors) throw new Error(JSON.stringify(value.errors))
    taken.push(Object.values(value.data!)[0])
  }
  return taken
}

const present = () => server.tail.position.toString()

/** Subscribes from now on: whatever happens next is part of it, however long the connection takes. */
async function from(
  door: keyof typeof doors,
  query: string,
  variables: object = {},
  key?: string,
): Promise<Results> {
  await server.tail.caughtUp()
  return doors[door](query, { ...variables, after: present() }, key)
}

describe.each(['WebSocket', 'SSE'] as const)('over %s', (door) => {
  test('needsInput tells who enters, changes and leaves, why, and how long the queue is', async () => {
    const results = await from(
      door,
      'subscription($after: EventCursor) { needsInput(after: $after) { cursor kind reason queueSize session { id status needsInputReason } } }',
    )
    const { totalCount: before } = (await server.run('{ attentionQueue { totalCount } }')).attentionQueue
    const session = await server.session()
    const first = await server.elicit(session.id)
    const [entered] = await take(results, 1)
    expect(entered).toMatchObject({
      kind: 'ENTERED',
      reason: 'ELICITATION',
      queueSize: before + 1,
      session: { id: session.id, status: 'NEEDS_INPUT', needsInputReason: 'ELICITATION' },
    })
    await server.elicit(session.id)
    expect((await take(results, 1))[0]).toMatchObject({
      kind: 'UPDATED',
      reason: 'ELICITATION',
      queueSize: before + 1,
    })
    await answer(server.desk, first.elicitation, { action: 'decline' }, person, {
      surface: 'rest',
      address: null,
    })
    expect((await take(results, 1))[0]).toMatchObject({ kind: 'UPDATED', reason: 'ELICITATION' })
    await commandSession(server.journal, session.id, 'pause', systemActor)
    expect((await take(results, 1))[0]).toMatchObject({
      kind: 'UPDATED',
      reason: 'TURN_ENDED',
      queueSize: before + 1,
    })
    await commandSession(server.journal, session.id, 'resume', systemActor)
    expect((await take(results, 1))[0]).toMatchObject({
      kind: 'LEFT',
      reason: null,
      queueSize: before,
      session: { status: 'RUNNING', needsInputReason: null },
    })
    await results.return!()
  })

  test('banners come and go, of one session or of all', async () => {
    const query = `subscription($sessionId: ID, $after: EventCursor) { banners(sessionId: $sessionId, after: $after) { __typename
      ... on ElicitationBannerRaised { cursor elicitation { id status session { id } } }
      ... on ElicitationBannerRemoved { cursor elicitation { id status cause respondedBy { name surface } } }
      ... on LostElicitationBannerRaised { cursor session { id lostElicitation { requestId } } lostElicitation { reason at requestId summary } }
      ... on LostElicitationBannerCleared { cursor session { id lostElicitation { requestId } } } } }`
    const [session, other] = [await server.session(), await server.session()]
    const ofAll = await from(door, query)
    const ofOne = await from(door, query, { sessionId: session.id.toUpperCase() })
    const noise = await server.elicit(other.id)
    const answered = await server.elicit(session.id)
    await answer(server.desk, answered.elicitation, { action: 'accept' }, person, {
      surface: 'mcp',
      address: null,
    })
    const expired = await server.elicit(session.id)
    clock = () => new Date(expired.elicitation.expiresAt.getTime() + 1)
    await expireDueIn(server.journal, session.id)
    const lostAt = clock()
    clock = () => new Date()
    await server.elicit(session.id)

    const cursor = expect.stringMatching(/^\d+$/)
    const expected = [
      { __typename: 'ElicitationBannerRaised', cursor, elicitation: { id: answered.elicitation.id } },
      {
        __typename: 'ElicitationBannerRemoved',
        cursor,
        elicitation: {
          id: answered.elicitation.id,
          status: 'ACCEPT',
          cause: 'ANSWERED',
          respondedBy: { name: 'a person', surface: 'mcp' },
        },
      },
      {
        __typename: 'ElicitationBannerRaised',
        cursor,
        elicitation: { id: expired.elicitation.id, session: { id: session.id } },
      },
      {
        __typename: 'ElicitationBannerRemoved',
        cursor,
        elicitation: { id: expired.elicitation.id, status: 'EXPIRED', respondedBy: null },
      },
      {
        __typename: 'LostElicitationBannerRaised',
        cursor,
        session: { id: session.id },
        lostElicitation: {
          reason: 'EXPIRED',
          at: expect.stringContaining(lostAt.toISOString().slice(0, 16)),
          requestId: expired.elicitation.requestId,
          summary: 'delete_tenant: Delete the tenant acme?',
        },
      },
      // The new request first: in one commit the record goes because it came.
      { __typename: 'ElicitationBannerRaised', cursor },
      {
        __typename: 'LostElicitationBannerCleared',
        cursor,
        session: { id: session.id, lostElicitation: null },
      },
    ]
    expect(await take(ofOne, expected.length)).toMatchObject(expected)
    const all = await take(ofAll, expected.length + 1)
    expect(all[0].elicitation.id).toBe(noise.elicitation.id)
    expect(all.slice(1)).toMatchObject(expected)
    await ofOne.return!()
    await ofAll.return!()
  })

  test('session tells everything that happens to one session, with what it is now', async () => {
    const [session, other] = [await server.session(), await server.session()]
    const results = await from(
      door,
      'subscription($id: ID!, $after: EventCursor) { session(id: $id, after: $after) { cursor session { id title } event { cursor type actor { kind } data } } }',
      { id: session.id },
    )
    await commandSession(server.journal, other.id, 'pause', systemActor)
    await commandSession(server.journal, session.id, 'pause', systemActor)
    const [change] = await take(results, 1)
    expect(change).toMatchObject({
      session: { id: session.id, title: 'A test' },
      event: {
        cursor: change.cursor,
        type: 'session.paused',
        actor: { kind: 'system' },
        data: { from: 'running', to: 'needs_input' },
      },
    })
    await results.return!()
  })

  test('timeline tells everything; what is done to keys it tells to admins only', async () => {
    const { secret } = await server.key({ role: 'viewer' })
    const query =
      'subscription($after: EventCursor) { timeline(after: $after) { cursor type session { id } elicitation { id } actor { kind name role } } }'
    const admins = await from(door, query)
    const viewers = await from(door, query, {}, secret)
    await createKey(server.journal, { name: 'x', role: 'viewer' }, systemActor)
    const session = await server.session()
    const { elicitation } = await server.elicit(session.id)
    const types = (events: Payload[]) => events.map(({ type }) => type)
    const seen = await take(viewers, 4)
    expect(types(seen)).toEqual([
      'session.created',
      'session.started',
      'elicitation.created',
      'session.blocked',
    ])
    expect(seen[2]).toMatchObject({
      session: { id: session.id },
      elicitation: { id: elicitation.id },
      actor: { kind: 'mcp-server', name: null, role: null },
    })
    expect(types(await take(admins, 5))).toEqual(['key.created', ...types(seen)])
    await admins.return!()
    await viewers.return!()
  })

  test('gate tells what changed about the gate, and nothing else', async () => {
    const session = await server.session()
    const results = await from(
      door,
      'subscription($after: EventCursor) { gate(after: $after) { cursor gate { url reachable } } }',
    )
    await server.elicit(session.id)
    await server.services.gate.report(
      session.id,
      { host: 'laptop', url: 'http://gate.test', reachable: true, detail: null },
      systemActor,
    )
    expect((await take(results, 1))[0]).toEqual({
      cursor: present(),
      gate: { url: server.gateStatus.url, reachable: server.gateStatus.reachable },
    })
    await results.return!()
  })

  test('after a cursor, what was missed comes first, then what happens, each once', async () => {
    const session = await server.session()
    const cursors = async () =>
      (
        await server.database.pool.query('select cursor from event where session_id = $1 order by cursor', [
          session.id,
        ])
      ).rows.map(({ cursor }) => cursor)
    for (let i = 0; i < 5; i++) await server.elicit(session.id)
    const [first] = await cursors()
    const query =
      'subscription($sessionId: ID, $after: EventCursor) { timeline(sessionId: $sessionId, after: $after) { cursor } }'
    const results = doors[door](query, { sessionId: session.id, after: first })
    const missed = await take(results, 3)
    for (let i = 0; i < 5; i++) await server.elicit(session.id)
    const expected = (await cursors()).slice(1)
    const rest = await take(results, expected.length - 3)
    expect([...missed, ...rest].map(({ cursor }) => cursor)).toEqual(expected)
    await results.return!()
  })

  async function failure(query: string, variables: object): Promise<string> {
    try {
      const { value } = await doors[door](query, variables).next()
      return JSON.stringify(value)
    } catch (error) {
      // Over SSE a request that cannot begin is a 400, with the errors in its body.
      return error instanceof Error && 'response' in error
        ? await (error.response as Response).text()
        : JSON.stringify(error)
    }
  }

  test('a subscription to no session, or from no position, is an error', async () => {
    const query =
      'subscription($id: ID, $after: EventCursor) { timeline(sessionId: $id, after: $after) { cursor } }'
    for (const id of ['x', '\0', '00000000-0000-7000-8000-000000000000'])
      expect(await failure(query, { id })).toContain('NOT_FOUND')
    for (const after of ['x', -1, 1.5, '99999999999999999999', '9223372036854775808'])
      expect(await failure(query, { after })).toContain('position in the timeline')
  })

  test('a position beyond the end of the timeline is an error that names the end', async () => {
    const { rows } = await server.database.pool.query('select max(cursor)::text as "end" from event')
    for (const after of [String(BigInt(rows[0].end) + 1n), '9223372036854775807'])
      expect(
        await failure('subscription($after: EventCursor) { timeline(after: $after) { cursor } }', { after }),
      ).toMatch(
        new RegExp(
          `"code":"CURSOR_AHEAD","eventCursor":"${rows[0].end}"|"eventCursor":"${rows[0].end}","code":"CURSOR_AHEAD"`,
        ),
      )
    await expect.poll(() => server.fanout.size).toBe(1)
  })

  test('a position that another server handed out just now is good, though this one has not got there yet', async () => {
    await server.tail.caughtUp()
    const position = server.tail.position
    const isBehind = vi.spyOn(server.services, 'position').mockReturnValue(position)
    await server.session()
    const { rows } = await server.database.pool.query('select max(cursor)::text as "end" from event')
    expect(BigInt(rows[0].end)).toBeGreaterThan(position)
    const results = doors[door]('subscription($after: EventCursor) { timeline(after: $after) { cursor } }', {
      after: rows[0].end,
    })
    const before = server.fanout.size
    const next = results.next()
    await expect.poll(() => server.fanout.size).toBe(before + 1)
    await server.session()
    expect(BigInt((await next).value!.data!.timeline.cursor)).toBe(BigInt(rows[0].end) + 1n)
    isBehind.mockRestore()
    await results.return!()
  })

  test('whoever leaves is forgotten at once', async () => {
    // The surface itself follows the revocation of keys.
    await expect.poll(() => server.fanout.size).toBe(1)
    const results = doors[door]('subscription { timeline { cursor } }', {})
    void results.next()
    await expect.poll(() => server.fanout.size).toBe(2)
    await results.return!()
    await expect.poll(() => server.fanout.size, { timeout: 1_000 }).toBe(1)
  })
})

test('over WebSocket a client that closes its connection is forgotten, with all it had open', async () => {
  await expect.poll(() => server.fanout.size).toBe(1)
  const client = server.websocket()
  for (let i = 0; i < 5; i++) void client.iterate({ query: 'subscription { timeline { cursor } }' }).next()
  await expect.poll(() => server.fanout.size).toBe(6)
  await client.dispose()
  await expect.poll(() => server.fanout.size, { timeout: 1_000 }).toBe(1)
})

test('queries and mutations work over WebSocket too', async () => {
  const client = server.websocket()
  const { value } = await client
    .iterate({ query: 'mutation { createSession(input: { title: "x" }) { __typename } }' })
    .next()
  expect(value).toEqual({ data: { createSession: { __typename: 'CreateSessionSuccess' } } })
  await client.dispose()
})

test('over SSE a revoked key ends the stream with an error that says so', async () => {
  const { secret, id } = await server.key({ role: 'viewer' })
  const results = await from(
    'SSE',
    'subscription($after: EventCursor) { timeline(after: $after) { cursor } }',
    {},
    secret,
  )
  const next = results.next()
  await expect.poll(() => server.fanout.size).toBeGreaterThan(1)
  await revokeKey(server.journal, id, systemActor)
  const { value } = await next
  expect(value.errors![0]!.extensions!.code).toBe('UNAUTHENTICATED')
  expect((await results.next()).done).toBe(true)
})

test('an event and what belongs to it is read once, however many subscribers it goes to', async () => {
  const many = await startGraphql()
  try {
    const session = await many.session()
    await many.elicit(session.id)
    await many.tail.caughtUp()
    const query = `subscription($after: EventCursor) { needsInput(after: $after) { cursor queueSize
      session { id title elicitations(first: 3) { totalCount edges { node { id form { fields { name } } session { title } } } }
        pendingElicitations { id session { slug } } timeline(last: 3) { edges { node { type session { title } } } } } } }`
    const client = many.websocket()
    const statementsFor = async (subscribers: number): Promise<number> => {
      const open = Array.from({ length: subscribers }, () => client.iterate({ query }))
      const next = open.map((each) => each.next())
      await expect.poll(() => many.fanout.size).toBe(subscribers + 1)
      const statements = spyOnStatements(many)
      await many.elicit(session.id)
      await Promise.all(next)
      const count = statements.stop().length
      await Promise.all(open.map((each) => each.return!()))
      await expect.poll(() => many.fanout.size).toBe(1)
      return count
    }
    const one = await statementsFor(1)
    expect(one).toBeGreaterThan(3)
    // A read more or less: what falls into one turn of the event loop is one statement.
    expect(await statementsFor(60)).toBeLessThanOrEqual(one + 3)
    await client.dispose()
  } finally {
    await many[Symbol.asyncDispose]()
  }
})

test('what is sent to one subscriber is sent to others who may see it, and to nobody else', async () => {
  const session = await server.session()
  await server.elicit(session.id)
  const query = `subscription($after: EventCursor) { needsInput(after: $after) { queueSize
    session { pendingElicitations { callerAddress } } } }`
  const bound = await server.key({ role: 'viewer', sessionId: session.id })
  const viewer = await server.key({ role: 'viewer' })
  const everybody = await Promise.all(
    [server.adminKey, bound.secret, viewer.secret, server.adminKey, bound.secret].map((key) =>
      from('WebSocket', query, {}, key),
    ),
  )
  const next = everybody.map((results) => take(results, 1))
  // All of them are live, so that it is one event for all.
  await expect.poll(() => server.fanout.size).toBeGreaterThan(everybody.length)
  await server.elicit(session.id)
  const [admin, mine, theirs, again, alike] = (await Promise.all(next)).map(([change]) => change)
  expect(admin.session.pendingElicitations.at(-1)).toEqual({ callerAddress: '127.0.0.1' })
  expect(mine.session.pendingElicitations.at(-1)).toEqual({ callerAddress: null })
  expect(mine.queueSize).toBe(1)
  expect(theirs).toEqual(admin)
  expect(again).toEqual(admin)
  expect(alike).toEqual(mine)
  await Promise.all(everybody.map((results) => results.return!()))
})
