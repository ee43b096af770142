import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SessionStatus } from '../../src/database/generated/prisma/enums.ts'
import { sql } from '../../src/database/sql.ts'
import { sweepStranded } from '../../src/elicitation/strand.ts'
import { openDomain, type TestDomain } from '../support/domain.ts'
import { untilBlocked } from '../support/locks.ts'

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
beforeEach(() => domain.clear())
afterAll(() => domain[Symbol.asyncDispose]())

/** A session with the marker on it and nothing behind it, as a missed unblock leaves it. */
async function blockedOnNothing(status: SessionStatus): Promise<string> {
  const { id } = await domain.session()
  const { elicitation } = await domain.ask(id, { message: 'Reveal the key?', toolName: 'reveal' })
  await domain.database.query(sql`
    update elicitation set status = 'cancel', cause = 'session_ended', responded_at = now() where id = ${elicitation.id}`)
  await domain.database.query(sql`
    update session set status = ${status}, blocked_on_elicitation = true,
      archived_from = case when ${status} = 'archived' then 'running'::session_status end,
      needs_input_since = case when ${status} = 'needs_input' then now() end where id = ${id}`)
  return id
}

const typesOf = async (sessionId: string) =>
  (
    await domain.database.query<{ type: string }>(
      sql`select type from event where session_id = ${sessionId} order by cursor`,
    )
  ).map(({ type }) => type)

describe('the sweep for sessions that are blocked on nothing', () => {
  it('leaves a session in needs_input where it is, and records what it lost', async () => {
    const id = await blockedOnNothing('needs_input')
    expect(await sweepStranded(domain.journal)).toEqual([id])
    expect(await domain.row(id)).toMatchObject({
      status: 'needs_input',
      blockedOnElicitation: false,
      lostReason: 'stranded',
      lostSummary: 'reveal: Reveal the key?',
      lostAt: domain.clock.now,
    })
    expect((await typesOf(id)).at(-1)).toBe('session.lost_recorded')
  })

  it('takes the marker off a running session and says nothing: its agent never stopped', async () => {
    const id = await blockedOnNothing('running')
    const before = await typesOf(id)
    expect(await sweepStranded(domain.journal)).toEqual([id])
    expect(await domain.row(id)).toMatchObject({
      status: 'running',
      blockedOnElicitation: false,
      lostReason: null,
    })
    expect(await typesOf(id)).toEqual(before)
  })

  it.each(['waiting', 'failed', 'archived'] as const)('skips a session that is %s', async (status) => {
    const id = await blockedOnNothing(status)
    const before = await domain.row(id)
    expect(await sweepStranded(domain.journal)).toEqual([])
    expect(await domain.row(id)).toEqual(before)
  })

  it('leaves a session alone whose request is active', async () => {
    const { id } = await domain.session()
    await domain.ask(id)
    expect(await sweepStranded(domain.journal)).toEqual([])
    expect(await domain.row(id)).toMatchObject({ status: 'needs_input', blockedOnElicitation: true })
  })

  it('looks again under the lock: a request that arrives between the look and the lock keeps the session blocked', async () => {
    const id = await blockedOnNothing('needs_input')
    let sweeping: Promise<string[]> | undefined
    await domain.database.transaction(async (tx) => {
      await tx.query(sql`select 1 as one from session where id = ${id} for update`)
      sweeping = sweepStranded(domain.journal)
      await untilBlocked(domain.database)
      await tx.query(sql`
        insert into elicitation (id, request_id, session_id, message, expires_at, created_at)
        values (gen_random_uuid(), 'just-arrived', ${id}, 'And now?', ${new Date(domain.clock.now.getTime() + 60_000)}, ${domain.clock.now})`)
    })
    expect(await sweeping).toEqual([])
    expect(await domain.row(id)).toMatchObject({
      status: 'needs_input',
      blockedOnElicitation: true,
      lostReason: null,
    })
  })

  it('tells a session whose request is only overdue that it expired, not that it is stranded', async () => {
    const { id } = await domain.session()
    const { elicitation } = await domain.ask(id)
    domain.clock.now = elicitation.expiresAt
    expect(await sweepStranded(domain.journal)).toEqual([])
    expect(await domain.row(id)).toMatchObject({
      status: 'running',
      blockedOnElicitation: false,
      lostReason: 'expired',
    })
  })

  it('goes through any number of them, and a second sweep finds nothing', async () => {
    await domain.database.query(sql`
      insert into session (id, slug, title, status, blocked_on_elicitation, needs_input_since, created_at, updated_at)
      select gen_random_uuid(), 'lost-' || i, 'Lost', 'needs_input', true, now(), now(), now() from generate_series(1, 450) i`)
    expect(await sweepStranded(domain.journal)).toHaveLength(450)
    expect(await sweepStranded(domain.journal)).toEqual([])
  })
})
