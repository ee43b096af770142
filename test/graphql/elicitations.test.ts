import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

let server: GraphqlServer
beforeAll(async () => {
  server = await startGraphql()
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

const formOf = async (requestedSchema: Record<string, unknown>) => {
  const session = await server.session()
  const { elicitation } = await server.elicit(session.id, { requestedSchema })
  const { elicitation: got } = await server.run(
    `query($id: ID) { elicitation(id: $id) { form { confirmation anyFlatObject notes fields {
      __typename name title description required notes
      ... on TextField { format multiline minLength maxLength pattern textDefault: default }
      ... on NumberField { integer minimum maximum numberDefault: default }
      ... on BooleanField { booleanDefault: default }
      ... on SelectField { options { value label } selectDefault: default }
      ... on MultiSelectField { options { value label } minItems maxItems multiDefault: default }
      ... on JsonField { jsonDefault: default }
    } } } }`,
    { id: elicitation.id },
  )
  return got.form
}

describe('a request', () => {
  test('tells everything about itself, the words of its server made visible', async () => {
    const session = await server.session()
    const { elicitation } = await server.elicit(session.id, {
      message: 'Delete \u202eacme?',
      toolName: 'delete_tenant',
      context: 'asked by a job',
      meta: { 'com.pulsemcp/request-id': 'x', extra: [1, { deep: null }] },
      requestedSchema: { type: 'object', properties: { note: { type: 'string' } } },
    })
    const got = await server.run(
      `query($id: ID) { elicitation(id: $id) {
        id requestId session { id slug } serverName status mode message summary requestedSchema
        form { confirmation fields { name } } url elicitationId toolName context meta expiresAt content note cause
        respondedAt respondedBy { name surface } createdAt lastPolledAt listening deliveredAt } }`,
      { id: elicitation.id },
    )
    expect(got.elicitation).toEqual({
      id: elicitation.id,
      requestId: elicitation.requestId,
      session: { id: session.id, slug: session.slug },
      serverName: null,
      status: 'PENDING',
      mode: 'FORM',
      message: 'Delete ⟨U+202E⟩acme?',
      summary: 'delete_tenant: Delete ⟨U+202E⟩acme?',
      requestedSchema: { type: 'object', properties: { note: { type: 'string' } } },
      form: { confirmation: null, fields: [{ name: 'note' }] },
      url: null,
      elicitationId: null,
      toolName: 'delete_tenant',
      context: 'asked by a job',
      meta: { 'com.pulsemcp/request-id': 'x', extra: [1, { deep: null }] },
      expiresAt: elicitation.expiresAt.toISOString(),
      content: null,
      note: null,
      cause: null,
      respondedAt: null,
      respondedBy: null,
      createdAt: elicitation.createdAt.toISOString(),
      lastPolledAt: null,
      listening: 'NOT_YET',
      deliveredAt: null,
    })
  })

  test('of mode URL has an address and no form', async () => {
    const session = await server.session()
    const { elicitation } = await server.elicit(session.id, {
      mode: 'url',
      url: 'https://example.com/login',
      elicitationId: 'their-id',
    })
    const got = await server.run(
      'query($id: ID) { elicitation(id: $id) { mode url elicitationId form { notes } } }',
      {
        id: elicitation.id,
      },
    )
    expect(got.elicitation).toEqual({
      mode: 'URL',
      url: 'https://example.com/login',
      elicitationId: 'their-id',
      form: null,
    })
  })

  test('says whether its server listens', async () => {
    const session = await server.session()
    const { elicitation } = await server.elicit(session.id)
    const read = async () =>
      (
        await server.run('query($id: ID) { elicitation(id: $id) { listening lastPolledAt } }', {
          id: elicitation.id,
        })
      ).elicitation
    expect(await read()).toEqual({ listening: 'NOT_YET', lastPolledAt: null })
    server.presence.opened(elicitation.id)
    expect((await read()).listening).toBe('LISTENING')
    server.presence.closed(elicitation.id)
    expect(await read()).toEqual({ listening: 'LISTENING', lastPolledAt: expect.any(String) })
    const silent = await server.elicit(session.id)
    await server.database.pool.query(
      `update elicitation set last_polled_at = now() - interval '31 s' where id = $1`,
      [silent.elicitation.id],
    )
    const got = await server.run('query($id: ID) { elicitation(id: $id) { listening } }', {
      id: silent.elicitation.id,
    })
    expect(got.elicitation.listening).toBe('SILENT')
  })

  test('is found by our id and by its own; what cannot be one is null', async () => {
    const session = await server.session()
    const { elicitation } = await server.elicit(session.id, { requestId: 'their.own:id-1' })
    const query = 'query($id: ID, $requestId: String) { elicitation(id: $id, requestId: $requestId) { id } }'
    for (const args of [
      { id: elicitation.id },
      { requestId: 'their.own:id-1' },
      { id: elicitation.id, requestId: 'their.own:id-1' },
    ])
      expect((await server.run(query, args)).elicitation).toEqual({ id: elicitation.id })
    for (const args of [
      { id: 'their.own:id-1' },
      { id: '\0' },
      { id: '' },
      { requestId: 'a\0b' },
      { requestId: '\ud800' },
      { requestId: 'x'.repeat(100_000) },
    ])
      expect((await server.run(query, args)).elicitation).toBeNull()
    expect((await server.ask(query)).body.errors[0].extensions.code).toBe('BAD_USER_INPUT')
  })
})

describe('a form', () => {
  test('has a typed field for every kind, in the order of the schema', async () => {
    const form = await formOf({
      type: 'object',
      required: ['email', 'level'],
      properties: {
        name: {
          type: 'string',
          title: 'Name',
          description: 'Yours',
          minLength: 1,
          maxLength: 500,
          pattern: '^a',
          default: 'ab',
        },
        email: { type: 'string', format: 'email' },
        age: { type: 'integer', minimum: 0, maximum: 150, default: 30 },
        ratio: { type: 'number' },
        sure: { type: 'boolean', default: false },
        level: { type: 'number', enum: [1, 2] },
        env: { type: 'string', oneOf: [{ const: 'prod', title: 'Production' }], default: 'prod' },
        tags: {
          type: 'array',
          items: { type: 'string', enum: ['a', 'b'] },
          minItems: 1,
          maxItems: 2,
          default: ['a'],
        },
        nested: { type: 'object', properties: { x: { type: 'string' } } },
      },
    })
    expect(form.confirmation).toBeNull()
    expect(form.fields).toMatchObject([
      {
        __typename: 'TextField',
        name: 'name',
        title: 'Name',
        description: 'Yours',
        required: false,
        format: 'TEXT',
        multiline: true,
        minLength: 1,
        maxLength: 500,
        pattern: '^a',
        textDefault: 'ab',
      },
      {
        __typename: 'TextField',
        name: 'email',
        title: 'email',
        required: true,
        format: 'EMAIL',
        multiline: false,
        textDefault: null,
      },
      { __typename: 'NumberField', name: 'age', integer: true, minimum: 0, maximum: 150, numberDefault: 30 },
      { __typename: 'NumberField', name: 'ratio', integer: false, minimum: null, numberDefault: null },
      { __typename: 'BooleanField', name: 'sure', booleanDefault: false },
      {
        __typename: 'SelectField',
        name: 'level',
        required: true,
        options: [
          { value: 1, label: '1' },
          { value: 2, label: '2' },
        ],
        selectDefault: null,
      },
      {
        __typename: 'SelectField',
        name: 'env',
        options: [{ value: 'prod', label: 'Production' }],
        selectDefault: 'prod',
      },
      { __typename: 'MultiSelectField', name: 'tags', minItems: 1, maxItems: 2, multiDefault: ['a'] },
      { __typename: 'JsonField', name: 'nested' },
    ])
    for (const field of form.fields) expect(field.notes).toEqual(expect.any(Array))
  })

  test('that is one required boolean is a confirmation', async () => {
    const form = await formOf({
      type: 'object',
      properties: { confirm: { type: 'boolean' } },
      required: ['confirm'],
    })
    expect(form.confirmation).toBe('confirm')
  })

  test('without properties takes any flat object; names such as __proto__ are data', async () => {
    expect((await formOf({})).anyFlatObject).toBe(true)
    const form = await formOf(
      JSON.parse('{"properties": {"__proto__": {"type": "string"}, "constructor": {"type": "boolean"}}}'),
    )
    expect(form.fields.map(({ name }: { name: string }) => name)).toEqual(['__proto__', 'constructor'])
  })

  test('with numbers that GraphQL has no Int for is still answered', async () => {
    const form = await formOf({
      properties: {
        long: { type: 'string', minLength: 3_000_000_000, maxLength: 9_007_199_254_740_991 },
        many: { type: 'array', items: { type: 'string' }, minItems: 3_000_000_000, maxItems: 1e300 },
        large: { type: 'number', minimum: -1e308, maximum: 1e308, default: 12345678901234 },
      },
    })
    expect(form.fields.map(({ name }: { name: string }) => name)).toEqual(['long', 'many', 'large'])
    expect(form.fields[2].numberDefault).toBe(12345678901234)
  })
})

describe('the list of requests', () => {
  test('is newest first, filtered by status, session and tool, and pages', async () => {
    const [a, b] = [await server.session(), await server.session()]
    const ids: string[] = []
    for (let i = 0; i < 5; i++)
      ids.push(
        (await server.elicit(i < 3 ? a.id : b.id, { toolName: i % 2 ? 'odd_tool' : 'even_tool' })).elicitation
          .id,
      )
    const query = `query($status: [ElicitationStatus!], $sessionId: ID, $toolName: String, $first: Int, $after: String) {
      elicitations(status: $status, sessionId: $sessionId, toolName: $toolName, first: $first, after: $after) {
        totalCount pageInfo { hasNextPage endCursor } edges { node { id session { id } } } } }`
    const list = async (args: object) => (await server.run(query, args)).elicitations
    const idsIn = (got: { edges: { node: { id: string } }[] }) => got.edges.map(({ node }) => node.id)

    expect(idsIn(await list({ sessionId: a.id }))).toEqual(ids.slice(0, 3).toReversed())
    expect(idsIn(await list({ toolName: 'odd_tool' }))).toEqual([ids[3], ids[1]])
    expect(await list({ sessionId: b.id, toolName: 'odd_tool', status: ['PENDING'] })).toMatchObject({
      totalCount: 1,
    })
    expect(await list({ sessionId: b.id, status: ['ACCEPT', 'EXPIRED'] })).toMatchObject({
      totalCount: 0,
      edges: [],
    })
    const first = await list({ sessionId: a.id, first: 2 })
    expect(first).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } })
    const second = await list({ sessionId: a.id, first: 2, after: first.pageInfo.endCursor })
    expect(idsIn(second)).toEqual([ids[0]])
    expect(second.totalCount).toBe(3)
    for (const args of [{ sessionId: 'x' }, { sessionId: '\0' }, { toolName: 'a\0' }, { toolName: '\udfff' }])
      expect(await list(args)).toMatchObject({ totalCount: 0, edges: [] })
  })
})
