import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Job, type Jobs, JobsError, openJobs } from '../../src/jobs/boss.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
let ending: AsyncDisposableStack
let errors: unknown[]
beforeEach(async () => {
  ending = new AsyncDisposableStack()
  database = ending.use(await createTestDatabase())
  errors = []
})
afterEach(() => ending.disposeAsync())

/** One server's share of the work. */
async function open(jobs: Job[], connectionString = database.connectionString): Promise<Jobs> {
  const log = { debug() {}, warn() {}, error: (what: unknown) => errors.push(what) }
  const opened = await openJobs({ connectionString, jobs, log })
  ending.defer(() => opened.stop())
  return opened
}

async function query(statement: string, connectionString = database.connectionString) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** Half a year away: while a test runs, nothing ticks but what a start queues. */
const notNow = `0 0 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} *`
const tick = (run: Job['run']): Job => ({ name: 'tick', cron: notNow, periodSeconds: 10_000_000, run })
const chain = (run: Job['run'], nextMs = 50): Job => ({
  name: 'chain',
  cron: '* * * * *',
  periodSeconds: 60,
  run,
  nextMs: async () => nextMs,
})

/** Longer than any worker takes to look for work. */
const absenceMs = 2_500
const absence = () => new Promise((resolve) => setTimeout(resolve, absenceMs))
const soon = { timeout: 15_000, interval: 20 }

describe('a job that ticks', () => {
  it('runs once a tick when two servers begin at the same time', async () => {
    const run = vi.fn(async () => {})
    const servers = await Promise.all([open([tick(run)]), open([tick(run)])])
    await Promise.all(servers.map((server) => server.begin()))
    await vi.waitFor(() => expect(run).toHaveBeenCalled(), soon)
    await absence()
    expect(run).toHaveBeenCalledTimes(1)
  })

  it('is not repeated by a server that starts again within the tick, and is made up for by one that starts after it', async () => {
    const run = vi.fn(async () => {})
    const first = await open([tick(run)])
    await first.begin()
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1), soon)
    await first.stop()

    const second = await open([tick(run)])
    await second.begin()
    await absence()
    expect(run).toHaveBeenCalledTimes(1)
    await second.stop()

    // Five minutes go by.
    await query(
      `update pgboss.job set singleton_on = singleton_on - interval '5 minutes' where name = 'tick'`,
    )
    await (await open([tick(run)])).begin()
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(2), soon)
  })

  it('waits while it still runs, and does not stack on itself', async () => {
    const done = Promise.withResolvers<void>()
    let atOnce = 0
    let most = 0
    const run = vi.fn(async () => {
      most = Math.max(most, ++atOnce)
      await done.promise
      atOnce--
    })
    const servers = [await open([tick(run)]), await open([tick(run)])]
    for (const server of servers) await server.begin()
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1), soon)
    // Three more ticks come round: one waits, the others are dropped.
    for (let minutes = 5; minutes <= 15; minutes += 5) {
      await query(
        `insert into pgboss.job (name, policy, singleton_on) select 'tick', 'stately', now() + interval '${minutes} minutes' on conflict do nothing`,
      )
    }
    await absence()
    expect(run).toHaveBeenCalledTimes(1)
    done.resolve()
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(2), soon)
    await absence()
    expect(run).toHaveBeenCalledTimes(2)
    expect(most).toBe(1)
  })

  it('that fails is said in the log, and the queue goes on', async () => {
    const run = vi.fn(async () => {})
    await (await open([tick(() => Promise.reject(new Error('out of luck'))), chain(run)])).begin()
    await vi.waitFor(
      () => expect(errors).toMatchObject([{ job: 'tick', err: { message: 'out of luck' } }]),
      soon,
    )
    await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThan(1), soon)
  })
})

describe('a job that is a chain', () => {
  it('runs again and again, with one link queued however many servers begin', async () => {
    const run = vi.fn(async () => {})
    const servers = await Promise.all([open([chain(run, 600_000)]), open([chain(run, 600_000)])])
    await Promise.all(servers.map((server) => server.begin()))
    await vi.waitFor(() => expect(run).toHaveBeenCalled(), soon)
    expect(
      await query(`select count(*)::int as links from pgboss.job where name = 'chain' and state = 'created'`),
    ).toEqual([{ links: 1 }])
  })

  it('holds when a server dies in the middle of a run', async () => {
    const dying = vi.fn(
      (stopping: AbortSignal) =>
        new Promise<void>((resolve) => stopping.addEventListener('abort', () => resolve())),
    )
    await (await open([chain(dying)])).begin()
    await vi.waitFor(() => expect(dying).toHaveBeenCalled(), soon)
    const living = vi.fn(async () => {})
    await (await open([chain(living)])).begin()
    await vi.waitFor(() => expect(living.mock.calls.length).toBeGreaterThan(1), soon)
  })

  it('is taken up at once by a server that starts, however far ahead its next link is', async () => {
    const run = vi.fn(async () => {})
    const first = await open([chain(run, 600_000)])
    await first.begin()
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1), soon)
    await first.stop()
    await (await open([chain(run, 600_000)])).begin()
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(2), soon)
  })

  it('holds when a run fails', async () => {
    const run = vi.fn(async () => {}).mockRejectedValueOnce(new Error('out of luck'))
    await (await open([chain(run)])).begin()
    await vi.waitFor(() => expect(run.mock.calls.length).toBeGreaterThan(2), soon)
  })
})

describe('a server that goes away', () => {
  it('tells what runs, waits for its step, and takes no more', async () => {
    let ended = false
    const run = vi.fn(
      (stopping: AbortSignal) =>
        new Promise<void>((resolve) =>
          stopping.addEventListener('abort', () =>
            setImmediate(() => {
              ended = true
              resolve()
            }),
          ),
        ),
    )
    const server = await open([chain(run)])
    expect(server.isReady()).toBe(false)
    await server.begin()
    await vi.waitFor(() => expect(run).toHaveBeenCalledTimes(1), soon)
    expect(server.isReady()).toBe(true)
    await server.stop()
    expect(ended).toBe(true)
    expect(server.isReady()).toBe(false)
    await absence()
    expect(run).toHaveBeenCalledTimes(1)
  })

  it('leaves behind what does not end, within the time of a drain', async () => {
    const run = vi.fn(() => new Promise<void>(() => {}))
    const server = await open([chain(run)])
    await server.begin()
    await vi.waitFor(() => expect(run).toHaveBeenCalled(), soon)
    const startedAt = performance.now()
    await server.stop()
    expect(performance.now() - startedAt).toBeLessThan(9_000)
  })
})

it('tells how long a tick has been waiting for a server', async () => {
  const server = await open([tick(async () => {})])
  await server.begin()
  await query(
    `insert into pgboss.job (name, policy, start_after) values ('tick', 'standard', now() - interval '90 seconds')`,
  )
  const overdue = await server.overdueSeconds()
  expect(overdue.get('tick')).toBeGreaterThanOrEqual(90)
})

describe('on a database of somebody else', () => {
  const role = `jobs_${process.pid}_${Date.now()}`
  const addressFor = () => {
    const address = new URL(database.connectionString)
    address.username = role
    address.password = 'secret'
    return address.href
  }
  const name = () => new URL(database.connectionString).pathname.slice(1)

  beforeEach(async () => {
    await query(`create role ${role} login password 'secret'`)
    ending.defer(async () => {
      await query(`drop owned by ${role} cascade; drop role ${role}`)
    })
  })

  it('sets itself up as an ordinary user who may make schemas', async () => {
    await query(`grant create on database ${name()} to ${role}`)
    const run = vi.fn(async () => {})
    await (await open([chain(run)], addressFor())).begin()
    await vi.waitFor(() => expect(run).toHaveBeenCalled(), soon)
  })

  it('says what an administrator has to do when the user may not', async () => {
    const failure = await open([], addressFor()).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(JobsError)
    expect((failure as Error).message).toContain(`create schema pgboss authorization "${role}"`)
  })

  it('works once the administrator has done that', async () => {
    await query(`create schema pgboss authorization ${role}`)
    const run = vi.fn(async () => {})
    await (await open([chain(run)], addressFor())).begin()
    await vi.waitFor(() => expect(run).toHaveBeenCalled(), soon)
  })
})
