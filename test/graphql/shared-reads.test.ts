import { getOperationAST, parse } from 'graphql'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { systemActor } from '../../src/events/event.ts'
import { createJournal, type Journal } from '../../src/events/journal.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { asksForSharedAlone } from '../../src/graphql/server/shared-reads.ts'
import { commandSession } from '../../src/session/commands.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'
import { spyOnStatements } from '../support/statements.ts'

const queue =
  '{ attentionQueue(first: 100) { totalCount edges { node { id status pendingElicitations { id expiresAt } } } } }'
const sessions = '{ sessions(first: 100) { edges { node { id status } } } }'

let server: GraphqlServer
let elsewhere: Database
let otherProcess: Journal
let clock = () => new Date()
beforeAll(async () => {
  server = await startGraphql({ now: () => clock() })
  elsewhere = openDatabase({ connectionString: server.connectionString, connectionsMax: 2 })
  otherProcess = createJournal({ database: elsewhere, onCommitted: () => {} })
})
beforeEach(() => {
  clock = () => new Date()
})
afterAll(async () => {
  await elsewhere.close()
  await server[Symbol.asyncDispose]()
})

const statusIn = (data: { sessions: { edges: { node: { id: string; status: string } }[] } }, id: string) =>
  data.sessions.edges.find(({ node }) => node.id === id)?.node.status

it('reads the queue once for all who ask for it at once', async () => {
  await server.elicit((await server.session()).id)
  // Nothing else happens any more: what the tail has not handed out yet would count as news.
  await server.tail.caughtUp()
  const statements = spyOnStatements(server)
  const answers = await Promise.all(Array.from({ length: 60 }, () => server.run(queue)))
  const reads = statements.stop().filter((text) => text.includes('with active as') && text.includes('limit'))
  expect(answers[0]!.attentionQueue.edges).not.toEqual([])
  for (const each of answers) expect(each).toEqual(answers[0])
  // Not one alone, as a slow machine takes longer for all of them than a result is kept.
  expect(reads.length).toBeLessThanOrEqual(20)
})

it('tells everybody what any process committed before they asked, each time, among many who ask for the same', {
  timeout: 60_000,
}, async () => {
  const { id } = await server.session()
  let busy = true
  const crowd = Array.from({ length: 4 }, async () => {
    while (busy) await server.run(sessions)
  })
  for (let round = 0; round < 40; round++) {
    const [command, status] =
      round % 2 === 0 ? (['pause', 'NEEDS_INPUT'] as const) : (['resume', 'RUNNING'] as const)
    await commandSession(round % 3 === 0 ? server.journal : otherProcess, id, command, systemActor)
    expect(statusIn(await server.run(sessions), id)).toBe(status)
  }
  busy = false
  await Promise.all(crowd)
})

it('reads one after the other, however many ask while something happens all the time', {
  timeout: 60_000,
}, async () => {
  const { id } = await server.session()
  let busy = true
  const writer = (async () => {
    for (let round = 0; busy; round++)
      await commandSession(otherProcess, id, round % 2 === 0 ? 'pause' : 'resume', systemActor)
  })()
  const statements = spyOnStatements(server)
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      for (let i = 0; i < 5; i++) await server.run(queue)
    }),
  )
  const reads = statements.stop().filter((text) => text.includes('with active as') && text.includes('limit'))
  busy = false
  await writer
  // A hundred were answered; with each reading come nearly all who wait.
  expect(reads.length).toBeGreaterThanOrEqual(5)
  expect(reads.length).toBeLessThanOrEqual(40)
})

it('tells each what they may see', async () => {
  const [mine, other] = [await server.session(), await server.session()]
  const bound = await server.key({ role: 'viewer', sessionId: mine.id })
  const idsFor = async (key?: string) =>
    (await server.run(sessions, {}, key)).sessions.edges.map(({ node }: { node: { id: string } }) => node.id)
  const [all, one, allAgain] = await Promise.all([idsFor(), idsFor(bound.secret), idsFor()])
  expect(one).toEqual([mine.id])
  expect(all).toEqual(expect.arrayContaining([mine.id, other.id]))
  expect(allAgain).toEqual(all)
})

it('asks anew for other arguments and variables', async () => {
  await Promise.all([server.session(), server.session()])
  const query = 'query($first: Int) { sessions(first: $first) { edges { node { id } } } }'
  const sizes = await Promise.all(
    [1, 2, 1].map(async (first) => (await server.run(query, { first })).sessions.edges.length),
  )
  expect(sizes).toEqual([1, 2, 1])
})

it('refuses variables that are nested without end, as ever', async () => {
  const query = 'query($id: ID) { session(id: $id) { id } }'
  const depth = 100_000
  const { status, body } = await server.post(
    `{"query":${JSON.stringify(query)},"variables":{"id":${'['.repeat(depth)}${']'.repeat(depth)}}}`,
    { 'x-api-key': server.adminKey },
  )
  expect(status).toBe(400)
  expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT')
})

it('gives an error to nobody else, and everybody their own', async () => {
  const query = '{ sessions(after: "nonsense") { edges { node { id } } } }'
  for (const { body } of await Promise.all([server.ask(query), server.ask(query)]))
    expect(body.errors[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } })
})

it('shows that somebody began to listen, though no event tells of it', async () => {
  for (const begin of ['opened', 'seen'] as const) {
    const { elicitation } = await server.elicit((await server.session()).id)
    const query = `{ elicitation(id: "${elicitation.id}") { listening lastPolledAt } }`
    expect(await server.run(query)).toEqual({ elicitation: { listening: 'NOT_YET', lastPolledAt: null } })
    server.presence[begin](elicitation.id)
    expect(await server.run(query)).toEqual({
      elicitation: { listening: 'LISTENING', lastPolledAt: expect.any(String) },
    })
  }
})

it('shares what is read while polls of those who listen come and go', async () => {
  const { elicitation } = await server.elicit((await server.session()).id)
  server.presence.opened(elicitation.id)
  await server.tail.caughtUp()
  const statements = spyOnStatements(server)
  const query = '{ elicitations(first: 50) { edges { node { id listening } } } }'
  await Promise.all(
    Array.from({ length: 40 }, async () => {
      server.presence.opened(elicitation.id)
      await server.run(query)
      server.presence.closed(elicitation.id)
    }),
  )
  const reads = statements.stop().filter((text) => /FROM "public"."elicitation"/i.test(text))
  expect(reads.length).toBeGreaterThanOrEqual(1)
  expect(reads.length).toBeLessThanOrEqual(13)
})

it('shows no request as waiting whose deadline has passed', async () => {
  const { id } = await server.session()
  const { elicitation } = await server.elicit(id)
  const query = `{ session(id: "${id}") { pendingElicitations { id } } }`
  expect(await server.run(query)).toEqual({ session: { pendingElicitations: [{ id: elicitation.id }] } })
  clock = () => new Date(elicitation.expiresAt.getTime() + 1)
  expect(await server.run(query)).toEqual({ session: { pendingElicitations: [] } })
})

describe('a query is shared', () => {
  const schema = createSchema()
  test.each([
    ['when all that it asks for is told by the timeline', queue, true],
    ['also by fragments', 'query { ...q } fragment q on Query { sessions { totalCount } __typename }', true],
    ['when it asks who listens', '{ elicitations { edges { node { listening lastPolledAt } } } }', true],
    [
      'not when a fragment asks for the process',
      '{ sessions { edges { node { ...s } } } } fragment s on Session { process { alive } }',
      false,
    ],
    ['not when it asks who asks', '{ sessions { totalCount } viewer { name } }', false],
    ['not when it is a mutation', 'mutation { revokeApiKey(id: "1") { __typename } }', false],
  ])('%s', (_when, text, expected) => {
    const document = parse(text)
    expect(asksForSharedAlone(schema, document, getOperationAST(document)!)).toBe(expected)
  })
})
