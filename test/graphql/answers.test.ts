import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { confirmSchema } from '../support/ask.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

let clock: () => Date = () => new Date()
let server: GraphqlServer
let alice: string
let bob: string
beforeAll(async () => {
  server = await startGraphql({ now: () => clock() })
  alice = (await server.key({ role: 'responder', name: 'Alice' })).secret
  bob = (await server.key({ role: 'operator', name: 'Bob' })).secret
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

const verdict = `__typename
  ... on RespondToElicitationSuccess { elicitation { id status cause content note respondedAt respondedBy { name surface } session { status blockedOnElicitation } } }
  ... on UserError { message }
  ... on AlreadyResolvedError { status respondedAt respondedBy { name surface } }
  ... on InvalidContentError { fields { name message } }
  ... on InvalidInputError { fields { name message } }
  ... on ExpiredError { expiresAt }`
const one = `mutation($input: RespondToElicitationInput!) { respondToElicitation(input: $input) { ${verdict} } }`
const many = `mutation($input: [RespondToElicitationInput!]!) { respondToElicitations(input: $input) { ${verdict} } }`

const respond = async (input: object, key = alice) =>
  (await server.run(one, { input }, key)).respondToElicitation

async function pending(requestedSchema: Record<string, unknown> = {}) {
  const session = await server.session()
  return (await server.elicit(session.id, { requestedSchema })).elicitation
}

const text = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

describe('an answer', () => {
  test('by id or by request id succeeds, says who gave it, and lets the session run on', async () => {
    for (const by of ['id', 'requestId'] as const) {
      const request = await pending(text)
      const got = await respond({
        [by]: request[by],
        action: 'ACCEPT',
        content: { name: 'acme' },
        note: ' go \u202eahead ',
      })
      expect(got).toEqual({
        __typename: 'RespondToElicitationSuccess',
        elicitation: {
          id: request.id,
          status: 'ACCEPT',
          cause: 'ANSWERED',
          content: { name: 'acme' },
          note: 'go ⟨U+202E⟩ahead',
          respondedAt: expect.any(String),
          respondedBy: { name: 'Alice', surface: 'graphql' },
          session: { status: 'RUNNING', blockedOnElicitation: false },
        },
      })
    }
  })

  test.each([
    ['DECLINE', 'ANSWERED'],
    ['CANCEL', 'DISMISSED'],
  ])('%s drops the content', async (action, cause) => {
    const request = await pending(text)
    const { elicitation } = await respond({ id: request.id, action, content: { name: 'acme' } })
    expect(elicitation).toMatchObject({ status: action, cause, content: null })
  })

  test('to a confirmation needs no content: accept means yes', async () => {
    const request = await pending(confirmSchema)
    expect((await respond({ id: request.id, action: 'ACCEPT' })).elicitation.content).toEqual({
      confirm: true,
    })
  })

  test('in the query itself, not in variables, is the same', async () => {
    const request = await pending(text)
    const { respondToElicitation } = await server.run(
      `mutation { respondToElicitation(input: { id: "${request.id}", action: ACCEPT, content: { name: "acme" } }) {
        ... on RespondToElicitationSuccess { elicitation { content } } } }`,
    )
    expect(respondToElicitation.elicitation.content).toEqual({ name: 'acme' })
  })

  test('with a field called __proto__ is kept as it is', async () => {
    const request = await pending(JSON.parse('{"properties": {"__proto__": {"type": "string"}}}'))
    const body = `{"query": ${JSON.stringify(one)}, "variables": {"input": {"id": "${request.id}", "action": "ACCEPT", "content": {"__proto__": "x"}}}}`
    const answer = await server.post(body, { 'x-api-key': alice })
    expect(JSON.stringify(answer.body.data.respondToElicitation.elicitation.content)).toBe(
      '{"__proto__":"x"}',
    )
    const { elicitation } = await server.run('query($id: ID) { elicitation(id: $id) { content } }', {
      id: request.id,
    })
    expect(JSON.stringify(elicitation.content)).toBe('{"__proto__":"x"}')
  })

  test('the same again by the same key is the same success, with one event', async () => {
    const request = await pending(text)
    const input = { id: request.id, action: 'ACCEPT', content: { name: 'acme' } }
    const first = await respond(input)
    expect(await respond(input)).toEqual(first)
    const { rows } = await server.database.pool.query(
      `select 1 from event where elicitation_id = $1 and type = 'elicitation.resolved'`,
      [request.id],
    )
    expect(rows).toHaveLength(1)
  })
})

describe('a refusal', () => {
  test('of an unknown request says so, whatever the id looks like', async () => {
    for (const input of [
      { id: '00000000-0000-7000-8000-000000000000' },
      { id: 'x' },
      { id: '\0' },
      { requestId: 'nothing' },
      { requestId: '\0' },
      { requestId: '' },
    ])
      expect(await respond({ ...input, action: 'ACCEPT' })).toMatchObject({
        __typename: 'NotFoundError',
        message: expect.any(String),
      })
  })

  test('of a second answer names what won, who and when', async () => {
    const request = await pending()
    const { elicitation } = await respond({ id: request.id, action: 'DECLINE' })
    expect(await respond({ id: request.id, action: 'ACCEPT' }, bob)).toEqual({
      __typename: 'AlreadyResolvedError',
      message: expect.stringContaining('Alice'),
      status: 'DECLINE',
      respondedAt: elicitation.respondedAt,
      respondedBy: { name: 'Alice', surface: 'graphql' },
    })
  })

  test('of content that does not fit names each field, and leaves the request pending', async () => {
    const request = await pending({
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name'],
    })
    const got = await respond({ id: request.id, action: 'ACCEPT', content: { age: 'x', other: 1 } })
    expect(got.__typename).toBe('InvalidContentError')
    expect(got.fields.map(({ name }: { name: string }) => name).toSorted()).toEqual(['age', 'name', 'other'])
    for (const content of ['text', 7, [], true, { name: { deep: 1 } }, { name: null }])
      expect((await respond({ id: request.id, action: 'ACCEPT', content })).__typename).toBe(
        'InvalidContentError',
      )
    expect(
      (await respond({ id: request.id, action: 'ACCEPT', content: { name: 'acme' } })).elicitation.status,
    ).toBe('ACCEPT')
  })

  test('after the deadline says that it expired, also when no sweep has run', async () => {
    const request = await pending()
    clock = () => new Date(request.expiresAt.getTime() + 1)
    try {
      const got = await respond({ id: request.id, action: 'ACCEPT' })
      expect(got).toMatchObject({ __typename: 'ExpiredError', expiresAt: request.expiresAt.toISOString() })
      const { elicitation } = await server.run(
        'query($id: ID) { elicitation(id: $id) { status cause respondedBy { name } session { status lostElicitation { reason requestId } } } }',
        { id: request.id },
      )
      expect(elicitation).toEqual({
        status: 'EXPIRED',
        cause: 'EXPIRED',
        respondedBy: null,
        session: { status: 'RUNNING', lostElicitation: { reason: 'EXPIRED', requestId: request.requestId } },
      })
    } finally {
      clock = () => new Date()
    }
  })

  test('of an input that breaks a rule names the field', async () => {
    const request = await pending()
    expect((await respond({ id: request.id, action: 'DECLINE', note: 'x'.repeat(2_001) })).fields).toEqual([
      { name: 'note', message: expect.stringContaining('2000') },
    ])
    expect((await respond({ action: 'DECLINE' })).fields).toEqual([
      { name: '', message: expect.stringContaining('`id`') },
    ])
    expect(
      (await respond({ id: request.id, requestId: request.requestId, action: 'DECLINE' })).__typename,
    ).toBe('InvalidInputError')
    expect((await respond({ id: request.id, action: 'DECLINE', note: 'a\0b' })).fields[0].name).toBe('note')
    expect((await respond({ id: request.id, action: 'DECLINE' })).elicitation.status).toBe('DECLINE')
  })
})

test('of many answers at once, exactly one takes effect and all others are told which', async () => {
  const request = await pending()
  const keys = await Promise.all(
    Array.from({ length: 8 }, (_, i) => server.key({ role: 'responder', name: `person ${i}` })),
  )
  const actions = ['ACCEPT', 'DECLINE', 'CANCEL']
  const verdicts = await Promise.all(
    keys.map(({ secret }, i) => respond({ id: request.id, action: actions[i % 3] }, secret)),
  )
  const winners = verdicts.filter(({ __typename }) => __typename === 'RespondToElicitationSuccess')
  expect(winners).toHaveLength(1)
  const { status, respondedBy } = winners[0].elicitation
  for (const loser of verdicts.filter((each) => each !== winners[0]))
    expect(loser).toMatchObject({ __typename: 'AlreadyResolvedError', status, respondedBy })
})

describe('a batch', () => {
  test('has a verdict for each, in the order given', async () => {
    const [a, b, c] = [await pending(), await pending(text), await pending()]
    const { respondToElicitations } = await server.run(
      many,
      {
        input: [
          { id: a.id, action: 'DECLINE' },
          { requestId: 'nothing', action: 'DECLINE' },
          { id: b.id, action: 'ACCEPT', content: {} },
          { id: a.id, action: 'ACCEPT' },
          { requestId: c.requestId, action: 'CANCEL', note: 'later' },
        ],
      },
      alice,
    )
    expect(respondToElicitations).toMatchObject([
      { __typename: 'RespondToElicitationSuccess', elicitation: { id: a.id, status: 'DECLINE' } },
      { __typename: 'NotFoundError' },
      { __typename: 'InvalidContentError', fields: [{ name: 'name' }] },
      { __typename: 'AlreadyResolvedError', status: 'DECLINE' },
      {
        __typename: 'RespondToElicitationSuccess',
        elicitation: { id: c.id, status: 'CANCEL', note: 'later' },
      },
    ])
  })

  test('is empty or has at most 50', async () => {
    expect((await server.run(many, { input: [] }, alice)).respondToElicitations).toEqual([])
    const request = await pending()
    const { body } = await server.ask(
      many,
      { input: Array(51).fill({ id: request.id, action: 'DECLINE' }) },
      alice,
    )
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT')
    const { elicitation } = await server.run('query($id: ID) { elicitation(id: $id) { status } }', {
      id: request.id,
    })
    expect(elicitation.status).toBe('PENDING')
  })
})
