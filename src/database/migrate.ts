import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

export type MigrationFault =
  /** No connection could be made. */
  | 'UNREACHABLE'
  /** PostgreSQL older than 15. */
  | 'TOO_OLD'
  /** The database has migrations that this code does not know. */
  | 'DATABASE_NEWER'
  /** A migration could not be applied; the database is as it was before it. */
  | 'FAILED'
  /** Another tool began a migration and did not end it. */
  | 'UNFINISHED'
  /** Another process has been migrating for longer than anybody should wait. */
  | 'BUSY'

/** The database could not be brought to this code's schema. The message says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
  readonly code: MigrationFault

  constructor(code: MigrationFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

interface Migration {
  name: string
  script: string
}

interface Row {
  migration_name: string
  finished_at: Date | null
  rolled_back_at: Date | null
}

export const migrationsFolder = fileURLToPath(new URL('../../prisma/migrations', import.meta.url))

const connectTimeoutMs = 10_000
const versionMin = 150_000
/** The advisory lock that Prisma's own tools take too, so that they and we never migrate at the same time. */
const lockId = 72_707_369
const lockTimeout = '60s'

/** The table in which Prisma keeps which migrations were applied. */
const table = `create table if not exists _prisma_migrations (
  id varchar(36) primary key not null,
  checksum varchar(64) not null,
  finished_at timestamptz,
  migration_name varchar(255) not null,
  logs text,
  rolled_back_at timestamptz,
  started_at timestamptz not null default now(),
  applied_steps_count integer not null default 0
)`

/**
 * Brings a database to the schema of `folder`, which holds Prisma migrations, and answers the names of those that it applied.
 * Any number of processes may do so at once. Where nothing is to be done it only reads.
 *
 * Prisma's folder and table are kept, but not its engine: that records a migration in statements of their own, so that a
 * process killed in between leaves a database that nobody can start on any more. Here the script and its record are one
 * transaction (which is why a script may not say `create index concurrently`).
 *
 * Throws `MigrationError`.
 */
export async function applyMigrations(
  connectionString: string,
  folder = migrationsFolder,
): Promise<{ applied: string[] }> {
  const migrations = await readMigrations(folder)
  const client = await connect(connectionString)
  try {
    if ((await findPending(client, migrations)).length === 0) return { applied: [] }
    await lock(client)
    // Another process may have applied them while this one waited.
    const pending = await findPending(client, migrations)
    for (const migration of pending) await apply(client, migration)
    return { applied: pending.map(({ name }) => name) }
  } finally {
    // Lets go of the lock too.
    await client.end()
  }
}

/** The names of the migrations that a start would apply now; nothing is changed. Throws `MigrationError`. */
export async function pendingMigrations(
  connectionString: string,
  folder = migrationsFolder,
): Promise<string[]> {
  const migrations = await readMigrations(folder)
  const client = await connect(connectionString)
  try {
    return (await findPending(client, migrations)).map(({ name }) => name)
  } finally {
    await client.end()
  }
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names
      .sort()
      .map(async (name) => ({ name, script: await readFile(join(folder, name, 'migration.sql'), 'utf8') })),
  )
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: connectTimeoutMs,
    application_name: 'holdpoint migrations',
  })
  // A connection that is lost fails the statement that runs, or the next one.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (error) {
    const { host, port, database, user } = client
    throw new MigrationError(
      'UNREACHABLE',
      `No connection to the database "${database}" at ${host}:${port} as "${user}": ${reason(error)}. ` +
        'See that PostgreSQL runs there and that DATABASE_URL is right.',
      error,
    )
  }
}

/** The migrations that the database lacks, in their order. */
async function findPending(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const about = await client.query(
    `select current_setting('server_version_num')::int as version, to_regclass('_prisma_migrations') is not null as migrated`,
  )
  const { version, migrated } = about.rows[0]
  if (version < versionMin) {
    throw new MigrationError(
      'TOO_OLD',
      `The database is PostgreSQL ${Math.floor(version / 10_000)}; Holdpoint needs ${versionMin / 10_000} or newer. Upgrade it, or point DATABASE_URL to a newer one.`,
    )
  }
  if (!migrated) return migrations
  const { rows } = await client.query<Row>(
    'select migration_name, finished_at, rolled_back_at from _prisma_migrations where rolled_back_at is null order by started_at',
  )
  const unfinished = rows.find((row) => row.finished_at === null)
  if (unfinished) {
    throw new MigrationError(
      'UNFINISHED',
      `The migration ${unfinished.migration_name} was begun by another tool and never ended. See what of it is in the database and undo that; then ` +
        `"update _prisma_migrations set rolled_back_at = now() where migration_name = '${unfinished.migration_name}' and finished_at is null" and start again. Or restore a backup.`,
    )
  }
  const known = new Set(migrations.map(({ name }) => name))
  const unknown = rows.map((row) => row.migration_name).filter((name) => !known.has(name))
  if (unknown.length > 0) {
    throw new MigrationError(
      'DATABASE_NEWER',
      `The database has migrations that this version does not know (${unknown.join(', ')}): a newer Holdpoint, or another program, has used it. ` +
        'Start that newer version, restore a backup made before it, or point DATABASE_URL to a database of its own.',
    )
  }
  const applied = new Set(rows.map((row) => row.migration_name))
  return migrations.filter(({ name }) => !applied.has(name))
}

async function lock(client: pg.Client): Promise<void> {
  // What the server has set for ordinary statements is too short for some migrations.
  await client.query(`set lock_timeout = '${lockTimeout}'; set statement_timeout = 0`)
  try {
    await client.query('select pg_advisory_lock($1)', [lockId])
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error
    throw new MigrationError(
      'BUSY',
      `Another process has been migrating this database for more than ${lockTimeout}. Start again when it is done; if there is none, end its connection (application_name "holdpoint migrations" in pg_stat_activity).`,
      error,
    )
  }
}

async function apply(client: pg.Client, { name, script }: Migration): Promise<void> {
  const startedAt = new Date()
  try {
    await client.query('begin')
    await client.query(table)
    await client.query(script)
    await client.query(
      `insert into _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       values ($1, $2, $3, $4, clock_timestamp(), 1)`,
      [randomUUID(), createHash('sha256').update(script).digest('hex'), name, startedAt],
    )
    await client.query('commit')
  } catch (error) {
    const advice =
      sqlState(error) === '42501'
        ? 'The user of DATABASE_URL has to own the database, or to have CREATE on it and on its schema; grant that and start again.'
        : 'Remove the cause and start again.'
    throw new MigrationError(
      'FAILED',
      `The migration ${name} failed and was undone: ${(error as Error).message}. ${advice}`,
      error,
    )
  }
}

/** Trying several addresses of one host fails with an error of no message, only a code. */
function reason(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || 'no reason given'
}

function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}
