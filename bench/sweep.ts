import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase } from '../src/database/database.ts'
import { removeDataFolder, startEmbeddedPostgres } from '../src/database/embedded.ts'
import { applyMigrations } from '../src/database/migrate.ts'
import { sql } from '../src/database/sql.ts'
import { expireDue } from '../src/elicitation/expire.ts'
import { sweepStranded } from '../src/elicitation/strand.ts'
import { createJournal } from '../src/events/journal.ts'
import { interleaved } from './harness.ts'

/**
 * One sweep with 1,000 requests due, among 1,000,000 and among 10,000 of which the rest are not. What a sweep costs has to
 * hang on what is due and not on what there is: the ratio of the two times, measured in turns on one server, should be near 1.
 *
 *   node bench/sweep.ts
 */
const due = 1_000
const rounds = 7

const dataDir = await mkdtemp(join(tmpdir(), 'holdpoint-bench-'))
const quiet = { info() {}, warn: console.warn, error: console.error }
const postgres = await startEmbeddedPostgres({ dataDir, log: quiet })
try {
  const large = await populate('large', 1_000_000)
  const small = await populate('small', 10_000)
  const result = await interleaved(
    'sweep, 1,000 due of 1,000,000 against 1,000 due of 10,000',
    'at most 1.5',
    rounds,
    () => sweepMs(large),
    () => sweepMs(small),
    'ms',
  )
  const { ratio, spread, ours, floor, goal } = result
  console.table([
    {
      what: result.name,
      ratio: ratio.toFixed(2),
      spread: spread.map((each) => each.toFixed(2)).join(' to '),
      large: `${Math.round(ours)} ms`,
      small: `${Math.round(floor)} ms`,
      goal,
    },
  ])
  await large.close()
  await small.close()
} finally {
  await postgres.stop()
  await removeDataFolder(dataDir)
}

/** A database of so many requests: one in ten waits and is not due, the others were answered. */
async function populate(name: string, elicitations: number): Promise<Database> {
  const maintenance = openDatabase({ connectionString: postgres.connectionString, connectionsMax: 1 })
  await maintenance.pool.query(`create database ${name}`)
  await maintenance.close()
  const address = new URL(postgres.connectionString)
  address.pathname = name
  await applyMigrations(address.href)
  const database = openDatabase({ connectionString: address.href, connectionsMax: 4 })
  const sessions = elicitations / 20
  await database.pool.query(`set statement_timeout = 0`)
  await database.query(sql`
    insert into session (id, slug, title, status, created_at, updated_at)
    select uuidv7(), 'bench-' || i, 'Bench', 'running', now(), now() from generate_series(1, ${sessions}) i`)
  const batches = Math.ceil(elicitations / 50_000)
  for (let batch = 0; batch < batches; batch++)
    await database.query(sql`
      insert into elicitation (id, request_id, session_id, message, tool_name, status, cause, responded_at, delivered_at, expires_at,
        created_at)
      select uuidv7(), gen_random_uuid()::text, s.id, 'Delete the tenant acme?', 'delete_tenant',
        case when waits then 'pending' else 'accept' end::elicitation_status, case when waits then null else 'answered' end::cause,
        case when waits then null else now() end, case when waits then null else now() end, now() + interval '1 day', now()
      from (select id from session order by id offset ${Math.floor((batch * sessions) / batches)}
        limit ${Math.ceil(sessions / batches)}) s, generate_series(1, 20) i, lateral (select i % 10 = 0 as waits) w`)
  await database.pool.query('vacuum analyze')
  return database
}

async function sweepMs(database: Database): Promise<number> {
  const journal = createJournal({ database, onCommitted: () => {} })
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
  const ms = performance.now() - begun
  if (expired !== due) throw new Error(`${expired} requests expired instead of ${due}`)
  return ms
}
