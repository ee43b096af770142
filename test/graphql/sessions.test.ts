import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemActor } from '../../src/events/event.ts'
import { commandSession } from '../../src/session/commands.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

let server: GraphqlServer
beforeAll(async () => {
  server = await startGraphql()
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

interface Page {
  totalCount: number
  pageInfo: {
    hasNextPage: boolean
    hasPreviousPage: boolean
    startCursor: string | null
    endCursor: string | null
  }
  edges: { cursor: string; node: { id: string } }[]
}
const pageFields =
  'totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id } }'
const idsOf = ({ edges }: Page) => edges.map(({ node }) => node.id)

describe('a session', () => {
  test('tells everything about itself', async () => {
    const session = await server.session({
      title: 'Clean up',
      runtime: 'codex',
      workingDirectory: '/work',
      metadata: { team: 'a' },
    })
    const { elicitation } = await server.elicit(session.id)
    const got = await server.run(
      `query($id: ID) { session(id: $id) {
        id slug title status runtime workingDirectory metadata blockedOnElicitation
        lostElicitation { reason at requestId summary } needsInputSince needsInputReason failureReason
        process { host pid startedAt lastSeenAt alive exitCode }
        pendingElicitations { id }
        elicitations { totalCount edges { node { id } } }
        timeline { totalCount edges { node { type } } }
        createdAt updatedAt
      } }`,
      { id: session.id },
    )
    const blocked = await server.database.prisma.session.findUniqueOrThrow({ where: { id: session.id } })
    expect(got.session).toEqual({
      id: session.id,
      slug: session.slug,
      title: 'Clean up',
      status: 'NEEDS_INPUT',
      runtime: 'CODEX',
      workingDirectory: '/work',
      metadata: { team: 'a' },
      blockedOnElicitation: true,
      lostElicitation: null,
      needsInputSince: blocked.needsInputSince!.toISOString(),
      needsInputReason: 'ELICITATION',
      failureReason: null,
      process: null,
      pendingElicitations: [{ id: elicitation.id }],
      elicitations: { totalCount: 1, edges: [{ node: { id: elicitation.id } }] },
      timeline: {
        totalCount: 4,
        edges: ['session.created', 'session.started', 'elicitation.created', 'session.blocked'].map(
          (type) => ({
            node: { type },
          }),
        ),
      },
      createdAt: session.createdAt.toISOString(),
      updatedAt: blocked.updatedAt.toISOString(),
    })
  })

  test('is found by id in either case and by slug; by both only when they agree', async () => {
    const [a, b] = [await server.session(), await server.session()]
    const query = 'query($id: ID, $slug: String) { session(id: $id, slug: $slug) { id } }'
    for (const args of [
      { id: a.id },
      { id: a.id.toUpperCase() },
      { slug: a.slug },
      { id: a.id, slug: a.slug },
    ])
      expect((await server.run(query, args)).session).toEqual({ id: a.id })
    for (const args of [{ id: a.id, slug: b.slug }, { slug: 'nowhere' }, { slug: a.id }])
      expect((await server.run(query, args)).session).toBeNull()
    const { body } = await server.ask(query)
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT')
  })

  test('that lost a request says which, why and when; one that failed says why', async () => {
    const paused = await server.session()
    const { elicitation } = await server.elicit(paused.id)
    await commandSession(server.journal, paused.id, 'pause', systemActor)
    const failed = await server.session()
    await commandSession(server.journal, failed.id, 'fail', systemActor, { reason: 'out of memory' })
    const { a, b } = await server.run(
      `query($a: ID, $b: ID) {
        a: session(id: $a) { needsInputReason lostElicitation { reason at requestId summary } }
        b: session(id: $b) { needsInputReason failureReason }
      }`,
      { a: paused.id, b: failed.id },
    )
    expect(a).toEqual({
      needsInputReason: 'TURN_ENDED',
      lostElicitation: {
        reason: 'STRANDED',
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        requestId: elicitation.requestId,
        summary: 'delete_tenant: Delete the tenant acme?',
      },
    })
    expect(b).toEqual({ needsInputReason: null, failureReason: 'out of memory' })
  })
})

describe('the list of sessions', () => {
  let lists: GraphqlServer
  let newestFirst: string[]
  beforeAll(async () => {
    lists = await startGraphql()
    const sessions = []
    for (let i = 0; i < 125; i++) sessions.push(await lists.session({ start: i % 5 === 0 }))
    newestFirst = sessions.map(({ id }) => id).toReversed()
  })
  afterAll(async () => {
    await lists?.[Symbol.asyncDispose]()
  })
  const query = `query($status: [SessionStatus!], $first: Int, $after: String, $last: Int, $before: String) {
    sessions(status: $status, first: $first, after: $after, last: $last, before: $before) { ${pageFields} } }`
  const page = async (args: object): Promise<Page> => (await lists.run(query, args)).sessions

  test('goes forward, newest first, and gives each session once', async () => {
    const seen: string[] = []
    let after: string | null = null
    for (;;) {
      const got: Page = await page({ first: 40, after })
      expect(got.totalCount).toBe(125)
      expect(got.pageInfo.hasPreviousPage).toBe(after !== null)
      seen.push(...idsOf(got))
      if (!got.pageInfo.hasNextPage) break
      after = got.pageInfo.endCursor
    }
    expect(seen).toEqual(newestFirst)
  })

  test('goes backward from the oldest', async () => {
    const last = await page({ last: 10 })
    expect(idsOf(last)).toEqual(newestFirst.slice(-10))
    expect(last.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
    const before = await page({ last: 10, before: last.pageInfo.startCursor })
    expect(idsOf(before)).toEqual(newestFirst.slice(-20, -10))
    expect(before.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true })
  })

  test('gives 20 unless told otherwise, and 100 at most', async () => {
    expect((await page({})).edges).toHaveLength(20)
    expect((await page({ first: 2_147_483_647 })).edges).toHaveLength(100)
    const none = await page({ first: 0 })
    expect(none).toMatchObject({
      totalCount: 125,
      edges: [],
      pageInfo: { hasNextPage: true, startCursor: null },
    })
  })

  test('holds what the filter asks for', async () => {
    expect((await page({ status: ['RUNNING'] })).totalCount).toBe(25)
    expect((await page({ status: ['RUNNING', 'WAITING'], first: 1 })).totalCount).toBe(125)
    expect((await page({ status: ['ARCHIVED'] })).edges).toEqual([])
    const second = await page({ status: ['RUNNING'], first: 10, after: newestFirst[60] })
    expect(idsOf(second)).toEqual(newestFirst.filter((_, i) => i > 60 && (124 - i) % 5 === 0).slice(0, 10))
  })

  test('does not take both directions, a negative size or a made-up cursor', async () => {
    for (const args of [
      { first: 1, last: 1 },
      { first: -1 },
      { last: -5 },
      { after: 'x' },
      { before: '' },
      { after: '\0' },
    ]) {
      const { status, body } = await lists.ask(query, args)
      expect(status).toBe(200)
      expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT')
    }
  })
})

describe("a session's own lists", () => {
  test('page through its requests newest first and its timeline oldest first, either way', async () => {
    const session = await server.session()
    const ids: string[] = []
    for (let i = 0; i < 12; i++) ids.push((await server.elicit(session.id)).elicitation.id)
    const query = `query($id: ID, $first: Int, $after: String, $last: Int, $before: String) { session(id: $id) {
      elicitations(first: $first, after: $after, last: $last, before: $before) { ${pageFields} } } }`
    const page = async (args: object): Promise<Page> =>
      (await server.run(query, { id: session.id, ...args })).session.elicitations
    const first = await page({ first: 5 })
    expect(idsOf(first)).toEqual(ids.toReversed().slice(0, 5))
    const second = await page({ first: 5, after: first.pageInfo.endCursor })
    expect(idsOf(second)).toEqual(ids.toReversed().slice(5, 10))
    const back = await page({ last: 3, before: second.pageInfo.startCursor })
    expect(idsOf(back)).toEqual(ids.toReversed().slice(2, 5))
    expect(first.totalCount).toBe(12)

    const events = `query($id: ID, $last: Int, $before: String, $first: Int, $after: String) { session(id: $id) {
      timeline(last: $last, before: $before, first: $first, after: $after) { totalCount pageInfo { hasPreviousPage startCursor } edges { cursor node { cursor type } } } } }`
    const { timeline: newest } = (await server.run(events, { id: session.id, last: 4 })).session
    expect(newest.totalCount).toBe(15)
    expect(newest.edges.map((edge: { node: { type: string } }) => edge.node.type)).toEqual(
      Array(4).fill('elicitation.created'),
    )
    for (const edge of newest.edges) expect(edge.cursor).toBe(edge.node.cursor)
    const { timeline: older } = (
      await server.run(events, { id: session.id, last: 20, before: newest.pageInfo.startCursor })
    ).session
    expect(older.edges).toHaveLength(11)
    expect(older.pageInfo.hasPreviousPage).toBe(false)
    expect(older.edges[0].node.type).toBe('session.created')
    const { timeline: later } = (
      await server.run(events, { id: session.id, first: 3, after: older.edges[0].cursor })
    ).session
    expect(later.edges.map((edge: { cursor: string }) => edge.cursor)).toEqual(
      older.edges.slice(1, 4).map((edge: { cursor: string }) => edge.cursor),
    )
  })
})
