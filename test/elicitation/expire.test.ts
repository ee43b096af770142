import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { actorOf } from '../../src/auth/identity.ts'
import { sql } from '../../src/database/sql.ts'
import { answer } from '../../src/elicitation/answer.ts'
import { expireDue, nextDeadline } from '../../src/elicitation/expire.ts'
import { underLock } from '../../src/session/under-lock.ts'
import { openDomain, person, type TestDomain } from '../support/domain.ts'
import { untilBlocked } from '../support/locks.ts'
import { writeBlockedSessions } from '../support/many.ts'

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
beforeEach(() => domain.clear())
afterAll(() => domain[Symbol.asyncDispose]())

const inMinutes = (count: number) => new Date(domain.clock.now.getTime() + count * 60_000)

describe('the expiry of what is due', () => {
  it('expires 10,000 requests of as many sessions in a few transactions, each with its events', {
    timeout: 120_000,
  }, async () => {
    const { database, journal, clock } = domain
    await writeBlockedSessions(database, { sessions: 10_000, createdAt: clock.now, expiresAt: inMinutes(1) })
    clock.now = inMinutes(1)

    let transactions = 0
    const counted = {
      ...journal,
      write: (work: Parameters<typeof journal.write>[0]) => {
        transactions++
        return journal.write(work)
      },
    }
    expect(await expireDue(counted as typeof journal)).toBe(10_000)
    expect(transactions).toBeLessThanOrEqual(20)

    const [after] = await database.query(sql`
      select (select count(*)::int from elicitation where status <> 'expired' or cause <> 'expired') as not_expired,
        (select count(*)::int from session where blocked_on_elicitation or status <> 'running' or lost_reason <> 'expired') as not_told,
        (select count(*)::int from event where type = 'elicitation.resolved') as resolved,
        (select count(*)::int from event where type = 'session.unblocked') as unblocked,
        (select count(*)::int from event where type = 'session.lost_recorded') as lost`)
    expect(after).toEqual({ notExpired: 0, notTold: 0, resolved: 10_000, unblocked: 10_000, lost: 10_000 })
  })

  it('leaves alone what is not due yet, to the millisecond', async () => {
    const { journal, clock } = domain
    const { id } = await domain.session()
    const { elicitation } = await domain.ask(id, { expiresAt: inMinutes(2).toISOString() })
    clock.now = new Date(elicitation.expiresAt.getTime() - 1)
    expect(await expireDue(journal)).toBe(0)
    clock.now = elicitation.expiresAt
    expect(await expireDue(journal)).toBe(1)
  })

  it('gives way to an answer that was first to hold the session', async () => {
    const { desk, journal, database, clock } = domain
    const { id } = await domain.session()
    const { elicitation } = await domain.ask(id, { expiresAt: inMinutes(1).toISOString() })
    const locked = Promise.withResolvers<void>()
    const letGo = Promise.withResolvers<void>()
    const answered = underLock(journal, id, async (session) => {
      locked.resolve()
      await letGo.promise
      session.resolve(elicitation.id, {
        status: 'accept',
        cause: 'answered',
        actor: actorOf(person),
        surface: 'rest',
      })
      session.keepInStep(actorOf(person))
    })
    await locked.promise
    clock.now = inMinutes(1)
    const expired = expireDue(journal)
    await untilBlocked(database)
    letGo.resolve()
    await answered
    expect(await expired).toBe(0)
    expect(
      await answer(desk, elicitation, { action: 'accept' }, person, { surface: 'rest', address: null }),
    ).toMatchObject({
      status: 'accept',
    })
  })

  it('that two servers do at once happens once', async () => {
    const { database, journal, clock } = domain
    await writeBlockedSessions(database, { sessions: 300, createdAt: clock.now, expiresAt: inMinutes(1) })
    clock.now = inMinutes(1)
    const counts = await Promise.all([expireDue(journal), expireDue(journal), expireDue(journal)])
    expect(counts.reduce((a, b) => a + b)).toBe(300)
    const [events] = await database.query(
      sql`select count(*)::int as count from event where type = 'elicitation.resolved'`,
    )
    expect(events).toEqual({ count: 300 })
  })

  it('stops between two steps when the server goes away, and leaves the rest as it was', async () => {
    const { database, journal, clock } = domain
    await writeBlockedSessions(database, { sessions: 1_500, createdAt: clock.now, expiresAt: inMinutes(1) })
    clock.now = inMinutes(1)
    const stopping = new AbortController()
    const expired = expireDue(journal, stopping.signal)
    stopping.abort()
    expect(await expired).toBe(1_000)
    expect(await expireDue(journal)).toBe(500)
  })

  it('knows the next deadline that is still ahead', async () => {
    const { journal, clock } = domain
    expect(await nextDeadline(journal)).toBeNull()
    const { id } = await domain.session()
    await domain.ask(id, { expiresAt: inMinutes(3).toISOString() })
    await domain.ask(id, { expiresAt: inMinutes(2).toISOString() })
    expect(await nextDeadline(journal)).toEqual(inMinutes(2))
    clock.now = inMinutes(2)
    expect(await nextDeadline(journal)).toEqual(inMinutes(1))
  })
})
