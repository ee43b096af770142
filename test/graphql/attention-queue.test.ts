import { afterAll, beforeAll, expect, test } from 'vitest'
import { expireDue } from '../../src/elicitation/expire.ts'
import { systemActor } from '../../src/events/event.ts'
import { commandSession } from '../../src/session/commands.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

const minute = 60_000
const start = new Date('2026-03-01T12:00:00Z')
let clock = start
const after = (minutes: number) => new Date(start.getTime() + minutes * minute).toISOString()

let server: GraphqlServer
beforeAll(async () => {
  server = await startGraphql({ now: () => clock })
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

const query = `query($first: Int, $after: String) { attentionQueue(first: $first, after: $after) {
  totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id title needsInputReason } } } }`
interface Queue {
  totalCount: number
  pageInfo: { hasNextPage: boolean; endCursor: string }
  edges: { cursor: string; node: { id: string; title: string; needsInputReason: string } }[]
}
const queue = async (args: object = {}): Promise<Queue> => (await server.run(query, args)).attentionQueue
const titles = ({ edges }: Queue) => edges.map(({ node }) => node.title)

test('the soonest deadline comes first, then who has waited longest; failed sessions with a request are in it, archived ones and others are not', async () => {
  const session = (title: string) => server.session({ title })
  const command = (id: string, event: 'pause' | 'archive' | 'fail', reason: string | null = null) =>
    commandSession(server.journal, id, event, systemActor, { reason })

  const long = await session('paused long ago')
  await command(long.id, 'pause')
  clock = new Date(start.getTime() + minute)
  const recent = await session('paused just now')
  await command(recent.id, 'pause')

  const later = await session('due in an hour')
  await server.elicit(later.id, { expiresAt: after(60) })
  const sooner = await session('due in ten minutes, and in an hour')
  await server.elicit(sooner.id, { expiresAt: after(60) })
  await server.elicit(sooner.id, { expiresAt: after(10) })
  const failed = await session('failed, and asking')
  await command(failed.id, 'fail', 'crashed')
  await server.elicit(failed.id, { expiresAt: after(30) })
  const pausedAsking = await session('paused, and asking')
  await command(pausedAsking.id, 'pause')
  await server.elicit(pausedAsking.id, { expiresAt: after(45) })

  await session('running')
  const gone = await session('archived')
  await server.elicit(gone.id, { expiresAt: after(5) })
  await command(gone.id, 'archive')
  const dead = await session('failed, and silent')
  await command(dead.id, 'fail', 'crashed')

  const got = await queue()
  expect(titles(got)).toEqual([
    'due in ten minutes, and in an hour',
    'failed, and asking',
    'paused, and asking',
    'due in an hour',
    'paused long ago',
    'paused just now',
  ])
  expect(got.edges.map(({ node }) => node.needsInputReason)).toEqual([
    ...Array(4).fill('ELICITATION'),
    ...Array(2).fill('TURN_ENDED'),
  ])
  expect(got.totalCount).toBe(6)
})

test('a request past its deadline keeps nobody in it, swept or not', async () => {
  clock = new Date(start.getTime() + 31 * minute)
  expect(titles(await queue())).not.toContain('failed, and asking')
  const before = await queue()
  await expireDue(server.journal)
  expect(titles(await queue())).toEqual(titles(before))
  expect((await queue()).totalCount).toBe(before.totalCount)
})

test('pages give everybody once, in order, also beyond a hundred and among equals', async () => {
  clock = start
  const many = await startGraphql({ now: () => clock })
  try {
    for (let i = 0; i < 130; i++) {
      const session = await many.session({ title: String(i) })
      if (i % 2 === 0) await many.elicit(session.id, { expiresAt: after(10 + (i % 6)) })
      else await commandSession(many.journal, session.id, 'pause', systemActor)
    }
    const read = async (first: number) => {
      const seen: string[] = []
      let after: string | null = null
      do {
        const page: Queue = (await many.run(query, { first, after })).attentionQueue
        expect(page.totalCount).toBe(130)
        expect(page.edges.length).toBeLessThanOrEqual(100)
        seen.push(...page.edges.map(({ node }) => node.id))
        after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
      } while (after !== null)
      return seen
    }
    const whole = await read(1_000)
    expect(new Set(whole).size).toBe(130)
    expect(await read(7)).toEqual(whole)
  } finally {
    await many[Symbol.asyncDispose]()
  }
})

test('somebody who leaves between two pages takes no place of others with them', async () => {
  clock = start
  await using few = await startGraphql({ now: () => clock })
  const sessions = []
  for (let i = 0; i < 4; i++) {
    const session = await few.session()
    await few.elicit(session.id, { expiresAt: after(10 + i) })
    sessions.push(session.id)
  }
  const first: Queue = (await few.run(query, { first: 2 })).attentionQueue
  expect(first.edges.map(({ node }) => node.id)).toEqual(sessions.slice(0, 2))
  for (const id of sessions.slice(0, 2)) await commandSession(few.journal, id, 'archive', systemActor)
  const second: Queue = (await few.run(query, { first: 2, after: first.pageInfo.endCursor })).attentionQueue
  expect(second.edges.map(({ node }) => node.id)).toEqual(sessions.slice(2))
})

test.each([
  'x',
  '__',
  '1_2_3',
  '\0',
  '99999999999999_1_01900000-0000-7000-8000-000000000000',
  '1_1_01900000-0000-7000-8000-00000000000g',
])('a made-up cursor %j is no error of the server', async (cursor) => {
  const { status, body } = await server.ask(query, { after: cursor })
  expect(status).toBe(200)
  expect(body.errors?.[0].extensions.code ?? 'fine').toMatch(/^(BAD_USER_INPUT|fine)$/)
})
