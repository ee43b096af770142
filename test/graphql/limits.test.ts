import { getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { graphqlBodyBytesMax, operationLimits } from '../../src/graphql/server/limits.ts'
import { type GraphqlAnswer, type GraphqlServer, startGraphql } from '../support/graphql.ts'

let server: GraphqlServer
beforeAll(async () => {
  server = await startGraphql()
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

const codeOf = ({ body }: GraphqlAnswer) => body.errors?.[0].extensions?.code
const post = (body: unknown, headers: Record<string, string> = {}) =>
  server.post(body, { 'x-api-key': server.adminKey, ...headers })

/** Elicitation.session, Session.pendingElicitations and back, as deep as it gets. */
function nested(levels: number): string {
  let selection = 'id'
  for (let i = 0; i < levels; i++)
    selection = i % 2 ? `pendingElicitations { ${selection} }` : `session { ${selection} }`
  return `{ elicitation(requestId: "x") { ${levels % 2 ? selection : `session { ${selection} }`} } }`
}

const everything = `{
  attentionQueue(first: 100) { totalCount pageInfo { endCursor hasNextPage } edges { cursor node {
    id slug title status runtime workingDirectory metadata blockedOnElicitation needsInputSince needsInputReason failureReason createdAt updatedAt
    lostElicitation { reason at requestId summary } process { host pid startedAt lastSeenAt alive exitCode }
    pendingElicitations { id requestId serverName status mode message summary url toolName context expiresAt note cause createdAt lastPolledAt listening deliveredAt
      form { confirmation anyFlatObject notes fields { __typename name title description required notes
        ... on TextField { format multiline minLength maxLength pattern } ... on NumberField { integer minimum maximum }
        ... on SelectField { options { value label } } ... on MultiSelectField { options { value label } minItems maxItems } } } }
  } } }
  sessions(first: 100) { totalCount edges { node { id slug title status updatedAt process { alive } } } }
}`

describe('an operation', () => {
  test('as large as a dashboard asks for runs, and so does introspection', async () => {
    const session = await server.session()
    await server.elicit(session.id)
    expect((await server.run(everything)).attentionQueue.totalCount).toBe(1)
    expect(
      (await server.run(getIntrospectionQuery({ descriptions: true, inputValueDeprecation: true }))).__schema
        .types.length,
    ).toBeGreaterThan(50)
  })

  test.each([
    ['too deep', 'TOO_DEEP', nested(operationLimits.depthMax + 1)],
    ['so deep that no stack would reach', 'TOO_DEEP', '{ a '.repeat(1_900) + '} '.repeat(1_900)],
    ['with a value as deep', 'TOO_DEEP', `{ a(b: ${'['.repeat(1_900)}${']'.repeat(1_900)}) }`],
    ['that only opens', 'TOO_DEEP', '{ a '.repeat(1_900)],
    [
      'too complex',
      'TOO_COMPLEX',
      '{ sessions(first: 100) { edges { node { elicitations(first: 100) { edges { node { id status message summary expiresAt session { id title slug status runtime } } } } } } } }',
    ],
    [
      'too complex by its aliases',
      'TOO_COMPLEX',
      `{ ${Array.from({ length: 40 }, (_, i) => `a${i}: sessions(first: 100) { edges { node { elicitations { edges { node { id } } } } } }`).join(' ')} }`,
    ],
    [
      'too complex by a fragment',
      'TOO_COMPLEX',
      'query { sessions(first: 100) { edges { node { ...f } } } } fragment f on Session { elicitations(first: 100) { edges { node { ...g } } } } fragment g on Elicitation { session { id title slug status runtime } id status message summary expiresAt }',
    ],
    [
      'of too many aliases',
      'TOO_MANY_ALIASES',
      `{ ${Array.from({ length: 51 }, (_, i) => `a${i}: __typename`).join(' ')} }`,
    ],
    ['of too many directives', 'TOO_MANY_DIRECTIVES', `{ ${'__typename @include(if: true) '.repeat(51)} }`],
    ['of too many tokens', 'GRAPHQL_PARSE_FAILED', `{ ${'__typename '.repeat(operationLimits.tokensMax)} }`],
    [
      'of endless introspection',
      'GRAPHQL_VALIDATION_FAILED',
      `{ __schema { types { fields { type { fields { type { fields { type { fields { type { name } } } } } } } } } } }`,
    ],
  ])('that is %s is refused with a code', async (_what, code, query) => {
    const answer = await post({ query })
    expect(answer.status).toBeLessThan(500)
    expect(codeOf(answer)).toBe(code)
    expect(answer.body.data ?? null).toBeNull()
  })

  test('is measured with the variables it is sent with', async () => {
    const query =
      'query($first: Int) { sessions(first: $first) { edges { node { elicitations(first: $first) { edges { node { id status message summary expiresAt session { id title slug status runtime } } } } } } } }'
    expect(codeOf(await post({ query, variables: { first: 10 } }))).toBeUndefined()
    expect(codeOf(await post({ query, variables: { first: 100 } }))).toBe('TOO_COMPLEX')
    expect(codeOf(await post({ query, variables: { first: 'x' } }))).toBe('BAD_USER_INPUT')
  })

  test('that is too large is refused as a mutation before anything is done, and as a subscription before it begins', async () => {
    const { rows: before } = await server.database.pool.query('select count(*) from session')
    const mutation = `mutation { createSession(input: { title: "x" }) { ... on CreateSessionSuccess { session { elicitations(first: 100) { edges { node { session { elicitations(first: 100) { edges { node { id status message summary expiresAt session { id title slug status runtime } } } } } } } } } } } }`
    expect(codeOf(await post({ query: mutation }))).toBe('TOO_COMPLEX')
    const { rows: after } = await server.database.pool.query('select count(*) from session')
    expect(after).toEqual(before)

    const subscription =
      'subscription { timeline { session { elicitations(first: 100) { edges { node { session { elicitations(first: 100) { edges { node { id status message summary expiresAt session { id title slug status runtime } } } } } } } } } } }'
    const client = server.websocket()
    const { value } = await client.iterate({ query: subscription }).next()
    expect(value.errors[0].extensions.code).toBe('TOO_COMPLEX')
    await client.dispose()
    expect(server.fanout.size).toBe(1)
  })

  test('of the right name is measured, whatever else is in the document', async () => {
    const document = `query small { viewer { name } } query large { sessions(first: 100) { edges { node { elicitations(first: 100) { edges { node { id status message summary expiresAt session { id title slug status runtime } } } } } } } }`
    expect((await post({ query: document, operationName: 'small' })).body.data.viewer.name).toBe('an admin')
    expect(codeOf(await post({ query: document, operationName: 'large' }))).toBe('TOO_COMPLEX')
  })
})

describe('a request', () => {
  test('may carry 10 operations, each with an answer of its own', async () => {
    const answers = await post(
      Array.from({ length: 10 }, (_, i) => ({ query: i % 2 ? '{ viewer { name } }' : '{ nothing }' })),
    )
    expect(answers.body.map((each: { data?: unknown }) => Boolean(each.data))).toEqual(
      Array.from({ length: 10 }, (_, i) => i % 2 === 1),
    )
    const many = await post(Array(11).fill({ query: '{ viewer { name } }' }))
    expect(many.status).toBe(413)
    expect(many.body.errors[0].message).toContain('10')
  })

  test('may be as large as its limit and no larger', async () => {
    const answer = await post({
      query: '{ viewer { name } }',
      variables: { pad: 'x'.repeat(graphqlBodyBytesMax) },
    })
    expect(answer.status).toBe(413)
    expect(answer.body.errors[0].message).toEqual(expect.any(String))
  })

  test.each([
    ['no JSON', '{'],
    ['a text', '"query"'],
    ['a number', '7'],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['an empty list', '[]'],
    ['a query that is no text', '{"query": 7}'],
    ['variables that are no object', '{"query": "{ viewer { name } }", "variables": "x"}'],
    ['an unknown parameter', '{"query": "{ viewer { name } }", "nonsense": 1}'],
    ['an operation that is not in it', '{"query": "query a { viewer { name } }", "operationName": "b"}'],
    ['two operations and no name', '{"query": "query a { viewer { name } } query b { viewer { name } }"}'],
    ['a fragment of itself', '{"query": "{ ...f } fragment f on Query { ...f }"}'],
    [
      'extensions that ask for more',
      '{"query": "{ viewer { name } }", "extensions": {"persistedQuery": {"version": 1, "sha256Hash": "x"}}}',
    ],
  ])('with %s is answered, and is no error of the server', async (_what, body) => {
    const answer = await post(body)
    expect(answer.status).toBeLessThan(500)
    expect(codeOf(answer)).not.toBe('INTERNAL')
  })

  test('of another type or method is refused, as a GraphQL error that says what to send', async () => {
    for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'nonsense']) {
      const answer = await post('x', { 'content-type': type })
      expect([answer.status, codeOf(answer)]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
      expect(answer.body.errors[0].message).toContain('application/json')
    }
    const answer = await post({ query: '{ viewer { name } }' }, { accept: 'image/png' })
    expect([answer.status, codeOf(answer)]).toEqual([406, 'NOT_ACCEPTABLE'])
    for (const method of ['PUT', 'DELETE', 'PATCH'])
      expect(
        (await fetch(`${server.url}/graphql`, { method, headers: { 'x-api-key': server.adminKey } })).status,
      ).toBeLessThan(500)
  })

  test('by GET may ask and never do', async () => {
    const byGet = (query: string) =>
      fetch(`${server.url}/graphql?query=${encodeURIComponent(query)}`, {
        headers: { 'x-api-key': server.adminKey },
      })
    expect(await (await byGet('{ viewer { name } }')).json()).toEqual({
      data: { viewer: { name: 'an admin' } },
    })
    const { rows: before } = await server.database.pool.query('select count(*) from session')
    expect((await byGet('mutation { createSession(input: { title: "x" }) { __typename } }')).status).toBe(405)
    expect((await server.database.pool.query('select count(*) from session')).rows).toEqual(before)
  })

  test('by GET with a broken address is no error of the server', async () => {
    for (const search of [
      '?query=%E0%A4%A',
      '?query={viewer{name}}&variables={',
      '?',
      '?query',
      '?query=%00',
    ])
      expect(
        (await fetch(`${server.url}/graphql${search}`, { headers: { 'x-api-key': server.adminKey } })).status,
      ).toBeLessThan(500)
  })
})

test('what goes wrong inside is told by a reference, which the log has', async () => {
  await using broken = await startGraphql()
  broken.services.gate.status = async () => {
    throw new Error('a secret of the inside')
  }
  const { body } = await broken.ask('{ gate { url } }')
  expect(JSON.stringify(body)).not.toContain('secret of the inside')
  const { code, reference } = body.errors[0].extensions
  expect(code).toBe('INTERNAL')
  expect(body.errors[0]).toMatchObject({ path: ['gate'], message: expect.stringContaining(reference) })
  expect(
    broken.logLines.filter((line) => line.includes(reference) && line.includes('a secret of the inside')),
  ).toHaveLength(1)
})

test('while the database is away, every door says so, and that it is worth another try', async () => {
  await using away = await startGraphql()
  // This key is remembered; then nothing can be asked any more.
  await away.ask('{ viewer { name } }')
  Object.assign(away.database.pool, {
    query: () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })),
  })
  const { body } = await away.ask('{ attentionQueue { totalCount } }')
  expect(body.errors[0].extensions.code).toBe('DATABASE_UNAVAILABLE')
  const another = await away.ask('{ viewer { name } }', {}, 'another key')
  expect(another.status).toBe(503)
  expect(another.body.errors[0].extensions.code).toBe('DATABASE_UNAVAILABLE')
  const closed = Promise.withResolvers<{ code: number }>()
  const client = away.websocket({
    lazy: false,
    connectionParams: { apiKey: 'another key' },
    on: { closed: (event) => closed.resolve(event as { code: number }) },
  })
  expect((await closed.promise).code).toBe(1013)
  await client.dispose()
})
