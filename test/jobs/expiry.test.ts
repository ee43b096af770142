import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../src/database/sql.ts'
import { startTail } from '../../src/events/tail.ts'
import { type Jobs, openJobs } from '../../src/jobs/boss.ts'
import { expiryJob } from '../../src/jobs/expiry.ts'
import { openDomain, type TestDomain } from '../support/domain.ts'
import { writeBlockedSessions } from '../support/many.ts'

let domain: TestDomain
let ending: AsyncDisposableStack
beforeEach(async () => {
  ending = new AsyncDisposableStack()
  domain = ending.use(await openDomain())
  // The clock that everybody lives by.
  Object.defineProperty(domain.clock, 'now', { get: () => new Date() })
})
afterEach(() => ending.disposeAsync())

async function startExpiry(): Promise<Jobs> {
  const log = { debug() {}, warn: console.warn, error: console.error }
  const jobs = await openJobs({
    connectionString: domain.connectionString,
    jobs: [expiryJob(domain.journal)],
    log,
  })
  ending.defer(() => jobs.stop())
  await jobs.begin()
  return jobs
}

/** Settles with the time at which `count` expiries had been seen by whoever watches the timeline. */
async function watchExpiries(count: number): Promise<() => Promise<number>> {
  const seen = Promise.withResolvers<number>()
  let left = count
  const tail = await startTail({
    database: domain.database,
    intervalMs: 50,
    onError: seen.reject,
    onEvent({ type, data }) {
      if (type === 'elicitation.resolved' && data.status === 'expired' && --left === 0)
        seen.resolve(Date.now())
    },
  })
  ending.defer(() => tail.stop())
  return () => seen.promise
}

describe('the expiry of requests that nobody polls', () => {
  it('is seen within 2 s of the deadline, on whichever of two servers', { timeout: 60_000 }, async () => {
    const seen = await watchExpiries(1)
    const deadline = new Date(Date.now() + 8_000)
    await writeBlockedSessions(domain.database, { sessions: 1, createdAt: new Date(), expiresAt: deadline })
    await startExpiry()
    await startExpiry()
    const lateMs = (await seen()) - deadline.getTime()
    expect(lateMs).toBeGreaterThanOrEqual(0)
    expect(lateMs).toBeLessThan(2_000)
  })

  it('comes at once for what became due while no server ran', { timeout: 60_000 }, async () => {
    const seen = await watchExpiries(50)
    const anHourAgo = new Date(Date.now() - 3_600_000)
    await writeBlockedSessions(domain.database, {
      sessions: 50,
      createdAt: anHourAgo,
      expiresAt: new Date(Date.now() - 60_000),
    })
    const startedAt = Date.now()
    await startExpiry()
    expect((await seen()) - startedAt).toBeLessThan(5_000)
  })

  it('looks for the next deadline, and twice a minute at least, as a server may have missed one that came in meanwhile', async () => {
    const job = expiryJob(domain.journal)
    expect(await job.nextMs!()).toBe(30_000)
    await writeBlockedSessions(domain.database, {
      sessions: 1,
      createdAt: new Date(),
      expiresAt: new Date(Date.now() + 20_000),
    })
    expect(await job.nextMs!()).toBeLessThanOrEqual(20_000)
    await domain.database.query(sql`update elicitation set expires_at = ${new Date(Date.now() - 1)}`)
    expect(await job.nextMs!()).toBe(30_000)
  })
})
