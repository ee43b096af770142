import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isRefusal } from '../../src/base/refusal.ts'
import { sql } from '../../src/database/sql.ts'
import { answer } from '../../src/elicitation/answer.ts'
import type { Elicitation } from '../../src/elicitation/elicitation.ts'
import { expireDue } from '../../src/elicitation/expire.ts'
import { sweepStranded } from '../../src/elicitation/strand.ts'
import { withdraw } from '../../src/elicitation/withdraw.ts'
import { mcpServerActor, systemActor } from '../../src/events/event.ts'
import { commandSession } from '../../src/session/commands.ts'
import { openDomain, person, type TestDomain } from '../support/domain.ts'

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
afterAll(() => domain[Symbol.asyncDispose]())

const commands = ['start', 'pause', 'resume', 'sleep', 'fail', 'archive', 'unarchive'] as const

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('ask' as const), minutes: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      which: fc.nat(),
      action: fc.constantFrom('accept' as const, 'decline' as const, 'cancel' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const), which: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('command' as const), event: fc.constantFrom(...commands) }),
  },
)

it('keeps its invariants through any sequence of events', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 1, maxLength: 25 }), async (start, steps) => {
      const { id } = await domain.session({ start })
      const finals = new Map<string, string>()
      for (const each of steps) {
        await take(id, each)
        await check(id, finals)
      }
    }),
    { numRuns: 60 },
  )
})

async function take(
  sessionId: string,
  each: typeof step extends fc.Arbitrary<infer S> ? S : never,
): Promise<void> {
  const { desk, journal, clock } = domain
  const requests = await elicitationsOf(sessionId)
  if (each.do === 'ask')
    await domain
      .ask(sessionId, { expiresAt: new Date(clock.now.getTime() + each.minutes * 60_000).toISOString() })
      .catch((error: unknown) => {
        if (!isRefusal(error)) throw error
      })
  if (each.do === 'answer' && requests.length > 0)
    await answer(desk, requests[each.which % requests.length]!, { action: each.action }, person, {
      surface: 'rest',
      address: null,
    })
  if (each.do === 'withdraw' && requests.length > 0)
    await withdraw(desk, requests[each.which % requests.length]!, mcpServerActor(null))
  if (each.do === 'pass') clock.now = new Date(clock.now.getTime() + each.minutes * 60_000)
  if (each.do === 'expire') await expireDue(journal)
  if (each.do === 'sweep') await sweepStranded(journal)
  if (each.do === 'command')
    await commandSession(journal, sessionId, each.event, systemActor, { reason: 'a test' })
}

async function check(sessionId: string, finals: Map<string, string>): Promise<void> {
  const session = await domain.row(sessionId)
  const requests = await elicitationsOf(sessionId)
  const pending = requests.filter(({ status }) => status === 'pending')

  // The marker means a pending request, on a session that shows as needs_input.
  if (session.blockedOnElicitation) {
    expect(pending.length).toBeGreaterThan(0)
    expect(session.status).toBe('needs_input')
  }
  // A running session has nothing pending: it would be blocked.
  if (session.status === 'running') expect(pending).toEqual([])
  if (session.status === 'archived') expect(pending).toEqual([])
  expect(session.needsInputSince !== null).toBe(session.status === 'needs_input')
  expect(session.failureReason !== null).toBe(
    session.status === 'failed' || (session.status === 'archived' && session.archivedFrom === 'failed'),
  )
  expect(session.archivedFrom !== null).toBe(session.status === 'archived')

  // A lost record: whole or not at all, and never beside something active.
  const lost = [session.lostReason, session.lostAt, session.lostRequestId, session.lostSummary]
  expect(new Set(lost.map((value) => value === null)).size).toBe(1)
  if (session.lostReason !== null) {
    expect(pending.filter(({ expiresAt }) => expiresAt > domain.clock.now)).toEqual([])
    expect(session.status).not.toBe('archived')
  }

  // A final status never changes; only an accept carries content; every end is on the timeline, once.
  for (const request of requests) {
    const final = finals.get(request.id)
    if (final) expect(request.status).toBe(final)
    if (request.status !== 'pending') finals.set(request.id, request.status)
    if (request.status !== 'accept') expect(request.content).toBeNull()
    expect(request.cause === null).toBe(request.status === 'pending')
  }
  const events = await domain.database.query<{ elicitationId: string; type: string }>(sql`
    select elicitation_id, type from event where session_id = ${sessionId} and elicitation_id is not null`)
  for (const request of requests) {
    const mine = events.filter(({ elicitationId }) => elicitationId === request.id)
    expect(mine.filter(({ type }) => type === 'elicitation.created')).toHaveLength(1)
    expect(mine.filter(({ type }) => type === 'elicitation.resolved')).toHaveLength(
      request.status === 'pending' ? 0 : 1,
    )
  }

  // The queue as the events tell it is the queue as the rows have it.
  const [last] = await domain.database.query<{ attention: string | null }>(sql`
    select attention from event where session_id = ${sessionId} and (attention is not null) order by cursor desc limit 1`)
  const inQueue = session.status === 'needs_input' || (session.status !== 'archived' && pending.length > 0)
  expect(last !== undefined && last.attention !== 'left').toBe(inQueue)
}

function elicitationsOf(sessionId: string): Promise<Elicitation[]> {
  return domain.database.query<Elicitation>(
    sql`select * from elicitation where session_id = ${sessionId} order by id`,
  )
}
