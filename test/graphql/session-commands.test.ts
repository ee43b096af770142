import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

let server: GraphqlServer
let key: string
beforeAll(async () => {
  server = await startGraphql()
  key = (await server.key({ role: 'launcher', name: 'the orchestrator' })).secret
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

const success = (name: string) =>
  `... on ${name.charAt(0).toUpperCase()}${name.slice(1)}Success { session { id slug title status runtime workingDirectory metadata failureReason updatedAt } }`
const errors = `... on UserError { message } ... on InvalidTransitionError { status event }`

async function command(name: string, id: string, more = '') {
  const data = await server.run(
    `mutation($id: ID!) { ${name}(id: $id${more}) { __typename ${success(name)} ${errors} } }`,
    { id },
    key,
  )
  return data[name]
}

async function create(input: object) {
  const { createSession } = await server.run(
    `mutation($input: CreateSessionInput!) { createSession(input: $input) { __typename ${success('createSession')} ... on InvalidInputError { message fields { name message } } } }`,
    { input },
    key,
  )
  return createSession
}

describe('createSession', () => {
  test('makes a waiting session, or a running one; the slug ends in something nobody guesses', async () => {
    const { session } = await create({ title: 'Clean up the tenants' })
    expect(session).toMatchObject({
      status: 'WAITING',
      runtime: 'OTHER',
      workingDirectory: null,
      metadata: {},
    })
    expect(session.slug).toMatch(/^clean-up-the-tenants-[a-z2-7]{6}$/)
    const started = await create({
      title: 'x',
      slug: 'my-run',
      runtime: 'CLAUDE_CODE',
      workingDirectory: '/work',
      metadata: { ticket: 7, nested: { a: [null] } },
      start: true,
    })
    expect(started.session).toMatchObject({
      status: 'RUNNING',
      runtime: 'CLAUDE_CODE',
      workingDirectory: '/work',
      metadata: { ticket: 7, nested: { a: [null] } },
      slug: expect.stringMatching(/^my-run-/),
    })
    expect((await create({ title: 'x', start: null, runtime: null, metadata: null })).session.status).toBe(
      'WAITING',
    )
  })

  test('keeps whatever is JSON in metadata, and takes nothing else for an object', async () => {
    const body = `{"query": ${JSON.stringify(`mutation($input: CreateSessionInput!) { createSession(input: $input) { ${success('createSession')} } }`)},
      "variables": {"input": {"title": "x", "metadata": {"__proto__": {"a": 1}, "nul": "a\\u0000b", "half": "\\ud800"}}}}`
    const { body: answer } = await server.post(body, { 'x-api-key': key })
    const { id } = answer.data.createSession.session
    const { session } = await server.run('query($id: ID) { session(id: $id) { metadata } }', { id }, key)
    expect(JSON.stringify(session.metadata)).toBe('{"__proto__":{"a":1},"nul":"a\\u0000b","half":"\\ud800"}')
    for (const metadata of ['text', 1, [1], true])
      expect((await create({ title: 'x', metadata })).fields).toEqual([
        { name: 'metadata', message: expect.any(String) },
      ])
  })

  test.each([
    ['title', { title: ' ' }],
    ['title', { title: 'x'.repeat(201) }],
    ['title', { title: 'x'.repeat(200_000) }],
    ['title', { title: 'a\0b' }],
    ['slug', { title: 'x', slug: 'not a slug' }],
    ['slug', { title: 'x', slug: '\0' }],
    ['workingDirectory', { title: 'x', workingDirectory: 'y'.repeat(5_000) }],
    ['workingDirectory', { title: 'x', workingDirectory: 'a\0b' }],
    ['metadata', { title: 'x', metadata: { large: 'z'.repeat(70_000) } }],
  ])('names the field that is wrong: %s', async (field, input) => {
    const got = await create(input)
    expect(got.__typename).toBe('InvalidInputError')
    expect(got.fields.map(({ name }: { name: string }) => name)).toEqual([field])
    expect(got.message).toContain(field)
  })
})

describe('the commands', () => {
  test('take a session through its life, each on the record with who gave it', async () => {
    const { id } = (await create({ title: 'x' })).session
    const steps = [
      ['startSession', 'RUNNING'],
      ['pauseSession', 'NEEDS_INPUT'],
      ['sleepSession', 'WAITING'],
      ['resumeSession', 'RUNNING'],
      ['archiveSession', 'ARCHIVED'],
      ['unarchiveSession', 'NEEDS_INPUT'],
    ] as const
    for (const [name, status] of steps) {
      const got = await command(name, id)
      expect(got).toMatchObject({ session: { id, status } })
    }
    const failed = await command('failSession', id, ', reason: "out of memory"')
    expect(failed.session).toMatchObject({ status: 'FAILED', failureReason: 'out of memory' })
    const { session } = await server.run(
      'query($id: ID) { session(id: $id) { updatedAt timeline { edges { node { type actor { kind name role } } } } } }',
      { id },
    )
    expect(session.updatedAt).toBe(failed.session.updatedAt)
    expect(session.timeline.edges.map(({ node }: { node: { type: string } }) => node.type)).toEqual(
      ['created', 'started', 'paused', 'slept', 'resumed', 'archived', 'unarchived', 'failed'].map(
        (each) => `session.${each}`,
      ),
    )
    for (const { node } of session.timeline.edges)
      expect(node.actor).toEqual({ kind: 'api-key', name: 'the orchestrator', role: 'LAUNCHER' })
  })

  test('a failed session that comes back from the archive still says why it failed, until it is resumed', async () => {
    const { id } = await server.session()
    await command('failSession', id, ', reason: "out of memory"')
    expect((await command('archiveSession', id)).session.failureReason).toBe('out of memory')
    expect((await command('unarchiveSession', id)).session).toMatchObject({
      status: 'FAILED',
      failureReason: 'out of memory',
    })
    expect((await command('resumeSession', id)).session.failureReason).toBeNull()
  })

  test.each([
    ['startSession', 'start'],
    ['sleepSession', 'sleep'],
    ['resumeSession', 'resume'],
    ['unarchiveSession', 'unarchive'],
  ])('%s is refused where the state does not allow it, saying so', async (name, event) => {
    const session = await server.session()
    expect(await command(name, session.id)).toEqual({
      __typename: 'InvalidTransitionError',
      message: expect.any(String),
      status: 'RUNNING',
      event,
    })
  })

  test('resume is refused while the session is blocked on a request', async () => {
    const session = await server.session()
    await server.elicit(session.id)
    expect(await command('resumeSession', session.id)).toMatchObject({
      __typename: 'InvalidTransitionError',
      status: 'NEEDS_INPUT',
      event: 'resume',
      message: expect.stringContaining('Answer or dismiss'),
    })
  })

  test('pause, fail and archive of an archived session are refused; a failure needs a reason', async () => {
    const session = await server.session()
    const blank = await server.run(
      'mutation($id: ID!) { failSession(id: $id, reason: " ") { __typename ... on InvalidInputError { fields { name } } } }',
      { id: session.id },
      key,
    )
    expect(blank.failSession).toEqual({ __typename: 'InvalidInputError', fields: [{ name: 'reason' }] })
    await command('archiveSession', session.id)
    for (const [name, more] of [
      ['pauseSession'],
      ['archiveSession'],
      ['failSession', ', reason: "x"'],
    ] as const)
      expect(await command(name, session.id, more)).toMatchObject({
        __typename: 'InvalidTransitionError',
        status: 'ARCHIVED',
      })
  })

  test.each([
    'startSession',
    'pauseSession',
    'resumeSession',
    'sleepSession',
    'archiveSession',
    'unarchiveSession',
  ])('%s of no session is not found, whatever its id looks like', async (name) => {
    for (const id of ['00000000-0000-7000-8000-000000000000', 'x', '', '\0', 'a'.repeat(10_000)])
      expect((await command(name, id)).__typename).toBe('NotFoundError')
  })
})
