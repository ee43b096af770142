/**
 * Writes the next migration: the SQL that leads from the schema of the newest one to prisma/schema.prisma.
 *
 *   node prisma/migration.ts <name>             writes prisma/migrations/<time>_<name>/
 *   node prisma/migration.ts <name> --rewrite   writes the newest one, of that name, anew; only while it has never left this machine
 *
 * Beside its `migration.sql`, each migration keeps the schema that it leads to, which is where the next one starts. Reading the
 * schema back out of a database would need no copy, but Prisma's engine panics on PostgreSQL 18 (github.com/prisma/orm/issues/29635).
 * Read what was written before committing it: a renamed column, for one, comes out as a dropped and a new one.
 */
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import { removeDataFolder, startEmbeddedPostgres } from '../src/database/embedded.ts'
import { migrationsFolder } from '../src/database/migrate.ts'

export const schemaFile = fileURLToPath(new URL('schema.prisma', import.meta.url))

/**
 * The SQL that turns a database of the schema `from` (null: an empty one) into one of the schema `to`; empty when they are the
 * same. The engine wants a connection, of which it only asks the version. Throws what it finds wrong with a schema.
 */
export async function statementsBetween(
  from: string | null,
  to: string,
  connectionString: string,
): Promise<string> {
  const { SchemaEngine } = await import('@prisma/schema-engine-wasm')
  const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg({ connectionString }))
  const engine = await SchemaEngine.new({ datamodels: undefined }, () => {}, adapter)
  try {
    const { exitCode, stdout } = await engine.diff({
      from: from === null ? { tag: 'empty' } : datamodel(from),
      to: datamodel(to),
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    })
    return exitCode === 0 ? '' : (stdout ?? '')
  } finally {
    engine.free()
  }
}

function datamodel(content: string) {
  return { tag: 'schemaDatamodel' as const, files: [{ path: 'schema.prisma', content }] }
}

async function main(): Promise<string> {
  const { values, positionals } = parseArgs({
    options: { rewrite: { type: 'boolean' } },
    allowPositionals: true,
  })
  const [name] = positionals
  if (!name || !/^[a-z][a-z0-9_]*$/.test(name))
    throw new Error('Give the migration a name of a-z, 0-9 and _.')

  const folders = (await readdir(migrationsFolder, { withFileTypes: true })).filter((entry) =>
    entry.isDirectory(),
  )
  const earlier = folders.map((folder) => folder.name).sort()
  const newest = values.rewrite ? earlier.pop() : undefined
  if (values.rewrite && !newest?.endsWith(`_${name}`))
    throw new Error(`The newest migration is ${newest}, not ${name}.`)

  const last = earlier.at(-1)
  const from = last ? await readFile(join(migrationsFolder, last, 'schema.prisma'), 'utf8') : null
  const to = await readFile(schemaFile, 'utf8')
  const statements = await onThrowawayServer((connectionString) =>
    statementsBetween(from, to, connectionString),
  )
  if (statements === '')
    return `prisma/schema.prisma is what ${last ?? 'an empty database'} already leads to; nothing to write.`

  const time = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  const folder = newest ?? `${time}_${name}`
  await mkdir(join(migrationsFolder, folder), { recursive: true })
  await writeFile(join(migrationsFolder, folder, 'migration.sql'), statements)
  await writeFile(join(migrationsFolder, folder, 'schema.prisma'), to)
  return `Wrote prisma/migrations/${folder}. Read it before you commit it.`
}

async function onThrowawayServer<T>(use: (connectionString: string) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdpoint-migration-'))
  const log = { info() {}, warn: console.warn, error: console.error }
  const server = await startEmbeddedPostgres({ dataDir, durable: false, log })
  try {
    return await use(server.connectionString)
  } finally {
    await server.stop()
    await removeDataFolder(dataDir)
  }
}

if (import.meta.main) console.log(await main())
