import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemActor } from '../../src/events/event.ts'
import { startTail } from '../../src/events/tail.ts'
import { createTimelineVersion } from '../../src/events/version.ts'
import { openDomain, type TestDomain } from '../support/domain.ts'

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
afterAll(() => domain[Symbol.asyncDispose]())

const write = () =>
  domain.journal.write(async (entry) =>
    entry.append({ type: 'notification.sent', actor: systemActor, at: new Date() }),
  )

/** The version as one process knows it, whose tail moves on by itself. */
async function follow() {
  const tail = await startTail({
    database: domain.database,
    intervalMs: 5,
    onEvent() {},
    onError(error) {
      throw error
    },
  })
  return { tail, version: createTimelineVersion(domain.database, () => tail.position) }
}

it('stays while nothing is committed, and goes up with every commit', async () => {
  const { tail, version } = await follow()
  await write()
  await tail.caughtUp()
  let before = await version()
  expect(await version()).toBe(before)
  for (let i = 0; i < 20; i++) {
    await write()
    const after = await version()
    expect(after! > before!).toBe(true)
    before = after
  }
  await tail.stop()
})

it('goes up when a number comes that was drawn before what is already there', async () => {
  const { tail, version } = await follow()
  const late = new pg.Client({ connectionString: domain.connectionString })
  await late.connect()
  for (let round = 0; round < 10; round++) {
    await late.query('begin')
    await late.query('select pg_advisory_xact_lock_shared($1, $2)', [0x484f4c44, 1])
    await late.query(`insert into event (type, actor_kind, at) values ('notification.sent', 'system', now())`)
    await write()
    const without = await version()
    expect(await version()).toBe(without)
    await late.query(round % 3 === 2 ? 'rollback' : 'commit')
    const after = await version()
    if (round % 3 !== 2) expect(after! > without!).toBe(true)
    else expect(after! >= without!).toBe(true)
  }
  await late.end()
  await tail.stop()
})

it('is not known when too much is under way to count', async () => {
  const version = createTimelineVersion(domain.database, () => -1_000_000n)
  await domain.database.pool.query(
    `insert into event (type, actor_kind, at) select 'notification.sent', 'system', now() from generate_series(1, 1000)`,
  )
  expect(await version()).toBeNull()
})
