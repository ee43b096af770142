import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { schemaFile, statementsBetween } from '../../prisma/migration.ts'
import { applyMigrations, MigrationError, migrationsFolder } from '../../src/database/migrate.ts'
import { createTestDatabase } from '../support/database.ts'

const three = fileURLToPath(new URL('migrations', import.meta.url))
const names = ['20260101000000_first', '20260102000000_second', '20260103000000_third']

/** A migrations folder of the test's own: the three, and what it adds. */
async function migrationsWith(added: Record<string, string>, base = names): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdpoint-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const name of base) await cp(join(three, name), join(folder, name), { recursive: true })
  for (const [name, script] of Object.entries(added)) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'migration.sql'), script)
  }
  return folder
}

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

async function emptyDatabase(): Promise<{ connectionString: string; client: pg.Client }> {
  const database = await createTestDatabase({ empty: true })
  onTestFinished(() => database.drop())
  return { connectionString: database.connectionString, client: await connected(database.connectionString) }
}

async function failure(migrating: Promise<unknown>): Promise<MigrationError> {
  const error = await migrating.then(
    () => new Error('it succeeded'),
    (failure) => failure,
  )
  if (error instanceof MigrationError) return error
  throw error
}

describe('applying migrations', () => {
  test('applies what is missing, in order, and the next time nothing', async () => {
    const { connectionString, client } = await emptyDatabase()
    expect(await applyMigrations(connectionString, three)).toEqual({ applied: names })
    expect(await applyMigrations(connectionString, three)).toEqual({ applied: [] })
    expect((await client.query('select * from thing')).rows).toEqual([{ id: 1, colour: 'blue' }])
    expect((await client.query('select count_things() as things')).rows).toEqual([{ things: '1' }])
  })

  test('applies only the new one to a database that has the others', async () => {
    const { connectionString } = await emptyDatabase()
    await applyMigrations(connectionString, three)
    const folder = await migrationsWith({ '20260104000000_fourth': 'create table fourth (id int)' })
    expect(await applyMigrations(connectionString, folder)).toEqual({ applied: ['20260104000000_fourth'] })
  })

  test('writes nothing and waits for nobody when nothing is to be done', async () => {
    const { connectionString, client } = await emptyDatabase()
    await applyMigrations(connectionString, three)
    // Held by somebody who migrates, or reads the table, or writes: a start that only looks does not mind.
    await client.query(
      'begin; select pg_advisory_lock(72707369); lock table _prisma_migrations in exclusive mode',
    )
    expect(await applyMigrations(connectionString, three)).toEqual({ applied: [] })
    await client.query('rollback')
  })

  test('is done once by processes that start at the same moment', async () => {
    const { connectionString, client } = await emptyDatabase()
    const migrator = fileURLToPath(new URL('support/migrator.ts', import.meta.url))
    const processes = Array.from({ length: 4 }, () => fork(migrator, [connectionString, three]))
    onTestFinished(() => {
      for (const each of processes) each.kill()
    })
    const next = async (each: ChildProcess) => (await once(each, 'message'))[0]
    await Promise.all(processes.map(next))
    const outcomes = processes.map(next)
    for (const each of processes) each.send('go')
    expect((await Promise.all(outcomes)).flatMap((outcome) => outcome.applied).sort()).toEqual(names)
    expect((await client.query('select migration_name from _prisma_migrations order by 1')).rows).toEqual(
      names.map((name) => ({ migration_name: name })),
    )
  })

  test('leaves a database as it was when a migration fails, and goes on from there once it is mended', async () => {
    const { connectionString, client } = await emptyDatabase()
    const broken = await migrationsWith({
      '20260104000000_broken': 'create table half (id int); select 1 / 0',
    })
    const fault = await failure(applyMigrations(connectionString, broken))
    expect(fault.code).toBe('FAILED')
    expect(fault.message).toMatch(/20260104000000_broken failed and was undone: division by zero/)
    expect((await client.query(`select to_regclass('half') as half`)).rows).toEqual([{ half: null }])

    const mended = await migrationsWith({ '20260104000000_broken': 'create table half (id int)' })
    expect(await applyMigrations(connectionString, mended)).toEqual({ applied: ['20260104000000_broken'] })
  })

  test('happens wholly or not at all when the process is cut off in the middle of one', async () => {
    const { connectionString, client } = await emptyDatabase()
    await client.query('create table gate (id int)')
    await client.query('begin; lock table gate')
    const waiting = await migrationsWith({
      '20260104000000_cut': 'create table half (id int); insert into gate values (1)',
    })
    const cut = failure(applyMigrations(connectionString, waiting))
    await expect.poll(() => cutOff(client), { timeout: 10_000, interval: 20 }).toBe(true)
    expect((await cut).code).toBe('FAILED')
    await client.query('rollback')
    expect((await client.query(`select to_regclass('half') as half`)).rows).toEqual([{ half: null }])
    expect(await applyMigrations(connectionString, waiting)).toEqual({ applied: ['20260104000000_cut'] })
  })

  test('refuses a database that is newer than the code, and says which migrations it does not know', async () => {
    const { connectionString } = await emptyDatabase()
    await applyMigrations(connectionString, three)
    const older = await migrationsWith({}, names.slice(0, 2))
    const fault = await failure(applyMigrations(connectionString, older))
    expect(fault.code).toBe('DATABASE_NEWER')
    expect(fault.message).toMatch(/20260103000000_third.*newer Holdpoint.*DATABASE_URL/)
  })

  test('refuses a database in which another tool left a migration unfinished, and says how to go on', async () => {
    const { connectionString, client } = await emptyDatabase()
    await applyMigrations(connectionString, await migrationsWith({}, names.slice(0, 2)))
    await client.query(
      `insert into _prisma_migrations (id, checksum, migration_name) values ('1', 'x', '20260103000000_third')`,
    )
    const fault = await failure(applyMigrations(connectionString, three))
    expect(fault.code).toBe('UNFINISHED')
    const statement = /"(update .*?)"/.exec(fault.message)![1]!
    await client.query(statement)
    expect(await applyMigrations(connectionString, three)).toEqual({ applied: ['20260103000000_third'] })
  })

  test('works for an owner who may not create databases', async () => {
    const { connectionString, client } = await emptyDatabase()
    const user = `owner_${Math.random().toString(36).slice(2)}`
    const database = new URL(connectionString).pathname.slice(1)
    await client.query(
      `create role ${user} login password 'secret'; alter database ${database} owner to ${user}`,
    )
    onTestFinished(async () => {
      await client.query(
        `reassign owned by ${user} to current_user; drop owned by ${user}; drop role ${user}`,
      )
    })
    const asOwner = new URL(connectionString)
    asOwner.username = user
    asOwner.password = 'secret'
    expect((await applyMigrations(asOwner.href)).applied).not.toEqual([])
    expect(await applyMigrations(asOwner.href)).toEqual({ applied: [] })
  })

  test('tells a user who may not create tables what to grant', async () => {
    const { connectionString, client } = await emptyDatabase()
    const user = `guest_${Math.random().toString(36).slice(2)}`
    await client.query(`create role ${user} login password 'secret'`)
    onTestFinished(async () => {
      await client.query(`drop role ${user}`)
    })
    const asGuest = new URL(connectionString)
    asGuest.username = user
    asGuest.password = 'secret'
    const fault = await failure(applyMigrations(asGuest.href))
    expect(fault.code).toBe('FAILED')
    expect(fault.message).toMatch(/permission denied.*own the database/)
  })

  test('says where it found no database, without the password', async () => {
    const nobody = createServer().listen(0, '127.0.0.1')
    await once(nobody, 'listening')
    const { port } = nobody.address() as { port: number }
    nobody.close()
    await once(nobody, 'close')
    const fault = await failure(applyMigrations(`postgresql://me:hush@localhost:${port}/somewhere`))
    expect(fault.code).toBe('UNREACHABLE')
    expect(fault.message).toMatch(
      new RegExp(`"somewhere" at localhost:${port} as "me": .*ECONNREFUSED.*DATABASE_URL`),
    )
    expect(fault.message).not.toContain('hush')
  })
})

describe("the project's own migrations", () => {
  test("leave nothing to do for Prisma's own engine", async () => {
    const { connectionString } = await emptyDatabase()
    await applyMigrations(connectionString)
    const { SchemaEngine } = await import('@prisma/schema-engine-wasm')
    const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg({ connectionString }))
    using engine = await SchemaEngine.new({ datamodels: undefined }, () => {}, adapter)
    const folders = (await readdir(migrationsFolder, { withFileTypes: true })).filter((entry) =>
      entry.isDirectory(),
    )
    const migrationsList = {
      baseDir: migrationsFolder,
      lockfile: {
        path: 'migration_lock.toml',
        content: await readFile(join(migrationsFolder, 'migration_lock.toml'), 'utf8'),
      },
      shadowDbInitScript: '',
      migrationDirectories: await Promise.all(
        folders.map(async ({ name }) => {
          const value = await readFile(join(migrationsFolder, name, 'migration.sql'), 'utf8')
          return {
            path: name,
            migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value } },
          }
        }),
      ),
    }
    const filters = { externalTables: [], externalEnums: [] }
    const optInToShadowDatabase = false
    expect(await engine.diagnoseMigrationHistory({ migrationsList, filters, optInToShadowDatabase })).toEqual(
      {
        editedMigrationNames: [],
        failedMigrationNames: [],
        hasMigrationsTable: true,
        history: null,
      },
    )
    expect(await engine.applyMigrations({ migrationsList, filters })).toEqual({ appliedMigrationNames: [] })
  })

  test('lead to the schema in prisma/schema.prisma', async () => {
    const [migrated, described] = [await emptyDatabase(), await emptyDatabase()]
    await applyMigrations(migrated.connectionString)
    const schema = await readFile(schemaFile, 'utf8')
    await described.client.query(await statementsBetween(null, schema, described.connectionString))
    expect(await shape(migrated.client)).toEqual(await shape(described.client))
  })

  test('keep the schema that the next one starts from', async () => {
    const newest = (await readdir(migrationsFolder, { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort()
      .at(-1)!
    const kept = await readFile(join(migrationsFolder, newest, 'schema.prisma'), 'utf8')
    const { connectionString } = await emptyDatabase()
    expect(await statementsBetween(kept, await readFile(schemaFile, 'utf8'), connectionString)).toBe('')
  })
})

/** Ends the connection of whoever waits for the lock on the table `gate`. */
async function cutOff(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    `select pg_terminate_backend(pid) from pg_locks where not granted and relation = 'gate'::regclass`,
  )
  return rows.length > 0
}

/** Everything about the tables, types and constraints of a database that its description can differ in. */
async function shape(client: pg.Client): Promise<Record<string, unknown[]>> {
  const list = async (text: string) =>
    (await client.query({ text, rowMode: 'array' })).rows.map((row) => row.join(' '))
  return {
    columns: await list(
      `select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
        from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
          and c.relname <> '_prisma_migrations' order by 1, 2`,
    ),
    enums: await list(
      'select t.typname, e.enumlabel from pg_enum e join pg_type t on t.oid = e.enumtypid order by t.typname, e.enumsortorder',
    ),
    indexes: await list(
      `select indexdef from pg_indexes where schemaname = 'public' and tablename <> '_prisma_migrations' order by 1`,
    ),
    references: await list(
      `select conrelid::regclass, conname, pg_get_constraintdef(oid) from pg_constraint where contype = 'f' order by 1, 2`,
    ),
  }
}
