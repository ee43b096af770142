import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Session } from '../../src/database/generated/prisma/client.ts'
import type { Elicitation } from '../../src/elicitation/elicitation.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

let server: GraphqlServer
let own: { session: Session; elicitation: Elicitation }
let other: { session: Session; elicitation: Elicitation }
let key: string
let adminKey: string

beforeAll(async () => {
  server = await startGraphql()
  const open = async () => {
    const session = await server.session()
    return { session, elicitation: (await server.elicit(session.id)).elicitation }
  }
  own = await open()
  other = await open()
  key = (await server.key({ role: 'viewer', sessionId: own.session.id })).secret
  // Whatever its role says, a bound key does nothing but look at its session.
  adminKey = (await server.key({ role: 'admin', sessionId: own.session.id })).secret
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

test('viewer names the session that the key is bound to', async () => {
  expect((await server.run('{ viewer { sessionId } }', {}, key)).viewer.sessionId).toBe(own.session.id)
})

test('its own session is there, by id and slug; another one is not', async () => {
  const query = 'query($id: ID, $slug: String) { session(id: $id, slug: $slug) { id } }'
  for (const args of [{ id: own.session.id }, { slug: own.session.slug }])
    expect((await server.run(query, args, key)).session).toEqual({ id: own.session.id })
  for (const args of [{ id: other.session.id }, { slug: other.session.slug }])
    expect((await server.run(query, args, key)).session).toBeNull()
})

test('its own request is there, by id and request id; another one is not', async () => {
  const query = 'query($id: ID, $requestId: String) { elicitation(id: $id, requestId: $requestId) { id } }'
  for (const args of [{ id: own.elicitation.id }, { requestId: own.elicitation.requestId }])
    expect((await server.run(query, args, key)).elicitation).toEqual({ id: own.elicitation.id })
  for (const args of [{ id: other.elicitation.id }, { requestId: other.elicitation.requestId }])
    expect((await server.run(query, args, key)).elicitation).toBeNull()
})

test('lists and their counts hold nothing of other sessions', async () => {
  const seen = await server.run(
    `query($other: ID!) {
      sessions { totalCount edges { node { id } } }
      attentionQueue { totalCount edges { node { id } } }
      elicitations { totalCount edges { node { id } } }
      elsewhere: elicitations(sessionId: $other) { totalCount edges { node { id } } }
    }`,
    { other: other.session.id },
    key,
  )
  expect(seen).toEqual({
    sessions: { totalCount: 1, edges: [{ node: { id: own.session.id } }] },
    attentionQueue: { totalCount: 1, edges: [{ node: { id: own.session.id } }] },
    elicitations: { totalCount: 1, edges: [{ node: { id: own.elicitation.id } }] },
    elsewhere: { totalCount: 0, edges: [] },
  })
})

test('subscriptions carry nothing of other sessions, replayed or live', async () => {
  const { rows } = await server.database.pool.query(
    'select count(*)::int as n from event where session_id = $1',
    [own.session.id],
  )
  const wanted = rows[0].n + 1
  const client = server.websocket({ connectionParams: { apiKey: key } })
  const cursors: string[] = []
  const reading = (async () => {
    for await (const { data } of client.iterate<{ timeline: { cursor: string; session: { id: string } } }>({
      query: 'subscription { timeline(after: "0") { cursor session { id } } }',
    })) {
      expect(data!.timeline.session.id).toBe(own.session.id)
      cursors.push(data!.timeline.cursor)
      if (cursors.length === wanted) return
    }
  })()
  await expect.poll(() => cursors.length).toBe(wanted - 1)
  await server.elicit(other.session.id)
  await server.elicit(own.session.id)
  await reading
  await client.dispose()
})

test('a subscription to another session is not found, and its queue size counts its own session', async () => {
  const results = server.sse(key).iterate({
    query: 'subscription($id: ID!) { session(id: $id) { cursor } }',
    variables: { id: other.session.id },
  })
  const { value } = await results.next()
  expect(value.errors![0]!.extensions!.code).toBe('NOT_FOUND')

  const sizes = server.sse(key).iterate<{ needsInput: { queueSize: number } }>({
    query: 'subscription { needsInput(after: "0") { queueSize } }',
  })
  expect((await sizes.next()).value!.data.needsInput.queueSize).toBe(1)
  await sizes.return!()
})

test.each(['viewer', 'admin'])(
  'a bound %s answers nothing: its own request is a self-approval, on the record, others are forbidden',
  async (role) => {
    const answer = (id: string) =>
      server.ask(
        `mutation($id: ID!) { respondToElicitation(input: { id: $id, action: ACCEPT }) { __typename ... on UserError { message } } }`,
        { id },
        role === 'admin' ? adminKey : key,
      )
    expect((await answer(own.elicitation.id)).body.data.respondToElicitation.__typename).toBe(
      'SelfApprovalError',
    )
    for (const id of [other.elicitation.id, '00000000-0000-7000-8000-000000000000'])
      expect((await answer(id)).body.errors[0].extensions.code).toBe('FORBIDDEN')
    const { rows } = await server.database.pool.query(
      `select actor_role from event where type = 'elicitation.answer_refused' and elicitation_id = $1 and actor_role = $2`,
      [own.elicitation.id, role],
    )
    expect(rows).toHaveLength(1)
    for (const { elicitation } of [own, other]) {
      const seen = await server.run('query($id: ID) { elicitation(id: $id) { status } }', {
        id: elicitation.id,
      })
      expect(seen.elicitation.status).toBe('PENDING')
    }
  },
)

test('so is each of a batch', async () => {
  const { respondToElicitations } = await server.run(
    `mutation($input: [RespondToElicitationInput!]!) { respondToElicitations(input: $input) { __typename } }`,
    { input: [own, own].map(({ elicitation }) => ({ id: elicitation.id, action: 'DECLINE' })) },
    key,
  )
  expect(respondToElicitations).toEqual(Array(2).fill({ __typename: 'SelfApprovalError' }))
})

test('it commands no session and makes no key, not even as an admin', async () => {
  for (const mutation of [
    `pauseSession(id: "${own.session.id}") { __typename }`,
    `failSession(id: "${own.session.id}", reason: "x") { __typename }`,
    `prepareLaunch(input: { sessionId: "${own.session.id}" }) { __typename }`,
    'createApiKey(input: { name: "x", role: ADMIN }) { __typename }',
  ]) {
    const { body } = await server.ask(`mutation { ${mutation} }`, {}, adminKey)
    expect(body.errors[0].extensions.code).toBe('FORBIDDEN')
    expect(body.errors[0].message).toContain('bound to a session')
  }
  const { body } = await server.ask('{ apiKeys { id } }', {}, adminKey)
  expect(body.errors[0].extensions.code).toBe('FORBIDDEN')
})
