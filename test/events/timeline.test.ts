import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { systemActor, type TimelineEvent } from '../../src/events/event.ts'
import { createFanout, SubscriptionEnded, subscriberLagMax } from '../../src/events/fanout.ts'
import { createJournal } from '../../src/events/journal.ts'
import { startTail, type Tail } from '../../src/events/tail.ts'
import { openDomain, type TestDomain } from '../support/domain.ts'

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
afterAll(() => domain[Symbol.asyncDispose]())

const note = (label: string) => ({
  type: 'notification.sent' as const,
  actor: systemActor,
  data: { label },
  at: new Date(),
})

function follow(intervalMs = 20): Promise<{ tail: Tail; seen: TimelineEvent[] }> {
  const seen: TimelineEvent[] = []
  return startTail({
    database: domain.database,
    intervalMs,
    onEvent: (event) => seen.push(event),
    onError: (error) => {
      throw error
    },
  }).then((tail) => ({ tail, seen }))
}

describe('the tail', () => {
  it('sees every event of parallel writers once and in order, rolled back ones never, from two processes alike', {
    timeout: 60_000,
  }, async () => {
    const followers = [await follow(), await follow()]
    const other = openDatabase({ connectionString: domain.connectionString })
    const journals = [domain.journal, createJournal({ database: other, onCommitted: () => {} })]
    const committed: string[] = []
    await Promise.all(
      Array.from({ length: 16 }, async (_, writer) => {
        for (let i = 0; i < 25; i++) {
          const label = `${writer}-${i}`
          const rolledBack = (writer + i) % 7 === 0
          await journals[writer % 2]!.write(async (entry) => {
            entry.append(note(label))
            entry.append(note(`${label}b`))
            // Holds the transaction open for a while *after* it drew its cursors.
            await entry.query(sql`select 1 as one`)
            if (rolledBack) throw new Error('rolled back')
          }).then(
            () => committed.push(label, `${label}b`),
            () => {},
          )
        }
      }),
    )
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        // The shape that makes gaps for sure: numbers are drawn, and the commit comes late or never.
        const client = new pg.Client({ connectionString: domain.connectionString })
        await client.connect()
        for (let i = 0; i < 10; i++) {
          const label = `late-${writer}-${i}`
          await client.query('begin')
          await client.query('select pg_advisory_xact_lock_shared($1, $2)', [0x484f4c44, 1])
          await client.query(
            `insert into event (type, actor_kind, data, at) values ('notification.sent', 'system', json_build_object('label', $1::text), now())`,
            [label],
          )
          await client.query('select pg_sleep($1)', [((writer * 7 + i) % 5) / 100])
          const keep = i % 3 !== 0
          await client.query(keep ? 'commit' : 'rollback')
          if (keep) committed.push(label)
        }
        await client.end()
      }),
    )
    for (const { tail, seen } of followers) {
      await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(committed.length)
      expect(seen.map(({ data }) => data.label).sort()).toEqual(committed.sort())
      const cursors = seen.map(({ cursor }) => cursor)
      expect(cursors).toEqual([...cursors].sort((a, b) => (a < b ? -1 : 1)))
      await tail.stop()
    }
    await other.close()
  })

  it('does not wait for a long transaction that writes elsewhere', async () => {
    const { tail, seen } = await follow()
    const client = new pg.Client({ connectionString: domain.connectionString })
    await client.connect()
    await client.query('begin')
    await client.query('create temporary table elsewhere (id int)')
    await client.query('insert into elsewhere values (1)')
    await expect(
      domain.journal.write(async (entry) => {
        entry.append(note('gone'))
        await entry.query(sql`insert into event (type, actor_kind, at) values ('x', 'system', now())`)
        throw new Error('rolled back')
      }),
    ).rejects.toThrow('rolled back')
    await domain.journal.write(async (entry) => entry.append(note('here')))
    await expect.poll(() => seen.map(({ data }) => data.label)).toEqual(['here'])
    await client.query('rollback')
    await client.end()
    await tail.stop()
  })
})

describe('a subscription', () => {
  it('replays what came after a cursor and goes live without loss or repeat, while others write', {
    timeout: 60_000,
  }, async () => {
    let fanout!: ReturnType<typeof createFanout>
    const first = domain.journal.write(async (entry) => entry.append(note('r-first')))
    await first
    const [{ cursor }] = (await domain.database.query<{ cursor: bigint }>(
      sql`select max(cursor) as cursor from event`,
    )) as [{ cursor: bigint }]
    const tail = await startTail({
      database: domain.database,
      intervalMs: 10,
      onEvent: (event) => fanout.publish(event),
      onError: () => {},
    })
    fanout = createFanout(domain.database, () => tail.position)
    const total = 600
    const writing = (async () => {
      for (let i = 0; i < total; i++)
        await domain.journal.write(async (entry) => entry.append(note(`r-${i}`)))
    })()
    // A subscriber that loses its connection again and again, and comes back with its last cursor.
    const labels: unknown[] = []
    let after = cursor
    while (labels.length < total) {
      const events = fanout.subscribe({ after, filter: () => true })
      const until = labels.length + 1 + (labels.length % 37)
      for await (const event of events) {
        labels.push(event.data.label)
        after = event.cursor
        if (labels.length >= Math.min(until, total)) break
      }
    }
    await writing
    expect(labels).toEqual(Array.from({ length: total }, (_, i) => `r-${i}`))
    expect(fanout.size).toBe(0)
    await tail.stop()
  })

  const event = (cursor: bigint): TimelineEvent => ({
    cursor,
    type: 'session.started',
    sessionId: null,
    elicitationId: null,
    actorKind: 'system',
    actorName: null,
    actorRole: null,
    data: {},
    attention: null,
    at: new Date(),
  })

  it('that does not keep up is ended with a reason', async () => {
    const fanout = createFanout(domain.database, () => 0n)
    const events = fanout.subscribe({ filter: () => true })
    for (let i = 0; i <= subscriberLagMax; i++) fanout.publish(event(BigInt(i)))
    await expect(events.next()).rejects.toThrow(SubscriptionEnded)
    expect(fanout.size).toBe(0)
  })

  it('ends at once when its reader leaves while it waits', async () => {
    const fanout = createFanout(domain.database, () => 0n)
    const events = fanout.subscribe({ filter: () => true })
    const waiting = events.next()
    await events.return!()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(fanout.size).toBe(0)
  })

  it('ends when the key behind it is revoked, and hands out what was queued before the server goes', async () => {
    const fanout = createFanout(domain.database, () => 0n)
    const mine = fanout.subscribe({ filter: () => true, credentialId: 'key' })
    const other = fanout.subscribe({ filter: () => true, credentialId: 'another' })
    fanout.endSubscriptionsOf('key')
    await expect(mine.next()).rejects.toMatchObject({ reason: 'revoked' })
    fanout.publish(event(1n))
    fanout.endAll('going away')
    expect((await other.next()).value.cursor).toBe(1n)
    await expect(other.next()).rejects.toMatchObject({ reason: 'going away' })
  })

  it('does not repeat what a cursor from a server further ahead has seen', async () => {
    let at = 5n
    const fanout = createFanout(domain.database, () => at)
    const events = fanout.subscribe({ after: 7n, filter: ({ cursor }) => cursor < 100n })
    const next = events.next()
    await new Promise((resolve) => setImmediate(resolve))
    await domain.database.query(sql`select 1 as settled`)
    for (const cursor of [6n, 7n, 8n]) {
      at = cursor
      fanout.publish(event(cursor))
    }
    expect((await next).value.cursor).toBe(8n)
    await events.return!()
  })
})
