import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '../src/database/database.ts'
import { removeDataFolder, startEmbeddedPostgres } from '../src/database/embedded.ts'
import { applyMigrations } from '../src/database/migrate.ts'
import { sql } from '../src/database/sql.ts'
import { expireDue } from '../src/elicitation/expire.ts'
import { sweepStranded } from '../src/elicitation/strand.ts'
import { createJournal } from '../src/events/journal.ts'
import type { Figure } from './figure.ts'
import { freePort, median, perSecond, startProgram } from './harness.ts'
import { adminKey, httpRequest, nextFirstPage } from './house.ts'

const sizes = [10_000, 100_000, 1_000_000] as const
const rounds = 5
const due = 1_000
const dueAtOnce = 10_000
const dueAtOnceMaxMs = 5_000
/** Whatever the size, so many wait: what grows is the past. */
const waiting = 1_000
const batch = 50_000
const main = join(import.meta.dirname, '..', 'src', 'main.ts')

/** What a request costs must not hang on how many there were before it: each measure at each size, and the largest over the smallest. */
export async function measureGrowth(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'holdpoint-bench-growth-'))
  const dataDir = join(folder, 'database')
  const postgres = await startEmbeddedPostgres({
    dataDir,
    durable: false,
    log: { info() {}, warn: console.warn, error: console.error },
  })
  const times = new Map<string, number[]>()
  let allAtOnceMs = 0
  const note = (what: string, ms: number) => times.set(what, [...(times.get(what) ?? []), ms])
  try {
    await applyMigrations(postgres.connectionString)
    const database = openDatabase({ connectionString: postgres.connectionString, connectionsMax: 4 })
    try {
      for (const table of ['session', 'elicitation', 'event'])
        await database.pool.query(`alter table ${table} set (autovacuum_enabled = off)`)
      await populateWaiting(database)
      let there = 0
      for (const size of sizes) {
        await populatePast(database, size - there)
        there = size
        // What the filling leaves to be done in the background would be measured too: whom to notify of it, and to tidy up.
        await database.query(sql`update timeline_reader set cursor = (select max(cursor) from event)`)
        await database.pool.query('vacuum analyze')
        await database.pool.query('checkpoint')
        note(`a sweep with ${due.toLocaleString('en')} due`, await sweepMs(database, due, rounds))
        const measured = await measureServer(postgres.connectionString, database, folder)
        for (const [what, ms] of Object.entries(measured)) note(what, ms)
      }
      allAtOnceMs = await sweepMs(database, dueAtOnce, 1)
    } finally {
      await database.close()
    }
  } finally {
    await postgres.stop()
    await removeDataFolder(dataDir)
    await rm(folder, { recursive: true, force: true })
  }
  const growth: Figure[] = [...times].map(([what, [small, , large]]) => ({
    what: `${what}: among 1,000,000 against among 10,000`,
    ours: large!,
    against: small!,
    unit: 'ms',
    value: large! / small!,
    spread: null,
    goal: { atMost: 1.5 },
  }))
  return [
    ...growth,
    {
      what: `the expiry of ${dueAtOnce.toLocaleString('en')} that are due at once, among 1,000,000`,
      ours: allAtOnceMs,
      against: null,
      unit: 'ms',
      value: allAtOnceMs,
      spread: null,
      goal: { atMost: dueAtOnceMaxMs },
    },
  ]
}

async function measureServer(
  connectionString: string,
  database: Database,
  folder: string,
): Promise<Record<string, number>> {
  const port = await freePort()
  const server = await startProgram(
    main,
    {
      PORT: String(port),
      DATABASE_URL: connectionString,
      HOLDPOINT_ADMIN_KEY: adminKey,
      HOLDPOINT_DATA_DIR: join(folder, 'data'),
    },
    /is ready at/,
  )
  try {
    const ids = await database.query<{ requestId: string; sessionId: string }>(
      sql`select request_id, session_id from elicitation where status = 'pending' order by id limit 500`,
    )
    const past = await database.query<{ id: string }>(
      sql`select id from session where slug like 'past-%' order by id desc limit 500`,
    )
    const graphql = (query: string, variables: object) =>
      httpRequest('POST', '/graphql', { headers: { 'X-API-Key': adminKey }, body: { query, variables } })
    const loads: Record<string, { requests: number; request: (i: number) => string }> = {
      'a poll': {
        requests: 4_000,
        request: (i) => httpRequest('GET', `/api/v1/elicitations/${ids[i % ids.length]!.requestId}?wait=0`),
      },
      'the attention queue': {
        requests: 100,
        request: () =>
          graphql(
            'query($after: String) { attentionQueue(first: 50, after: $after) { totalCount edges { node { id title pendingElicitations { id message } } } } }',
            nextFirstPage(),
          ),
      },
      'a page of a timeline': {
        requests: 200,
        request: (i) =>
          graphql(
            'query($id: ID!) { session(id: $id) { timeline(last: 50) { totalCount edges { node { cursor type at } } } } }',
            past[i % past.length]!,
          ),
      },
    }
    const measured: Record<string, number> = {}
    for (const [what, { requests, request }] of Object.entries(loads)) {
      const times: number[] = []
      for (let round = 0; round <= rounds; round++)
        times.push(1_000 / (await perSecond({ port, requests, connections: 8, request })))
      measured[what] = median(times.slice(1))
    }
    return measured
  } finally {
    await server.stop()
  }
}

async function populateWaiting(database: Database): Promise<void> {
  await database.query(sql`
    with made as (
      insert into session (id, slug, title, status, blocked_on_elicitation, needs_input_since, created_at, updated_at)
      select uuidv7(), 'waiting-' || i, 'Waiting', 'needs_input', true, now(), now(), now() from generate_series(1, ${waiting}) i
      returning id)
    insert into elicitation (id, request_id, session_id, message, tool_name, expires_at, created_at)
    select uuidv7(), gen_random_uuid()::text, id, 'Delete the tenant acme?', 'delete_tenant', now() + interval '1 day', now() from made`)
}

/** So many answered requests more, twenty to a session, each with an event. */
async function populatePast(database: Database, count: number): Promise<void> {
  await database.pool.query('set statement_timeout = 0')
  for (let done = 0; done < count; done += batch) {
    const rows = Math.min(batch, count - done)
    await database.query(sql`
      with sessions as (
        insert into session (id, slug, title, status, created_at, updated_at)
        select id, 'past-' || id, 'Past', 'archived', now(), now() from (select uuidv7() as id from generate_series(1, ${rows / 20})) ids
        returning id),
      requests as (
        insert into elicitation (id, request_id, session_id, message, tool_name, status, cause, responded_at, delivered_at, expires_at,
          created_at)
        select uuidv7(), gen_random_uuid()::text, s.id, 'Delete the tenant acme?', 'delete_tenant', 'accept', 'answered', now(), now(),
          now() + interval '1 day', now()
        from sessions s, generate_series(1, 20) i
        returning id, session_id)
      insert into event (type, session_id, elicitation_id, actor_kind, data, at)
      select 'elicitation.resolved', session_id, id, 'api-key', '{}', now() from requests`)
  }
}

/** How long it takes to expire `due` requests, of as many sessions. */
async function sweepMs(database: Database, due: number, rounds: number): Promise<number> {
  const journal = createJournal({ database, onCommitted: () => {} })
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    await database.query(sql`
      with made as (
        insert into session (id, slug, title, status, blocked_on_elicitation, needs_input_since, created_at, updated_at)
        select id, 'due-' || id, 'Due', 'needs_input', true, now(), now(), now()
        from (select uuidv7() as id from generate_series(1, ${due})) ids returning id)
      insert into elicitation (id, request_id, session_id, message, tool_name, expires_at, created_at)
      select uuidv7(), gen_random_uuid()::text, id, 'Delete the tenant acme?', 'delete_tenant', now(), now() - interval '1 hour'
      from made`)
    const begun = performance.now()
    const expired = await expireDue(journal)
    await sweepStranded(journal)
    times.push(performance.now() - begun)
    if (expired !== due) throw new Error(`${expired} requests expired instead of ${due}`)
  }
  return median(times.slice(1))
}
