import { mkdtemp, readdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { removeDataFolder, startEmbeddedPostgres } from '../../src/database/embedded.ts'
import { EmbeddedPostgresError } from '../../src/database/embedded-error.ts'
import { applyMigrations } from '../../src/database/migrate.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The run's PostgreSQL: the address of its maintenance database, as superuser, and the name of the migrated database. */
    postgres: { maintenance: string; template: string }
  }
}

const prefix = 'holdpoint-test-postgres-'
const template = 'holdpoint_template'
const youngFolderMs = 60_000

/** One PostgreSQL for the whole run, and in it a migrated database that every test file clones (see database.ts). */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeAbandoned()
  const dataDir = await mkdtemp(join(tmpdir(), prefix))
  const log = { info() {}, warn: console.warn, error: console.error }
  const server = await startEmbeddedPostgres({ dataDir, durable: false, log })
  const teardown = async () => {
    await server.stop()
    await remove(dataDir)
  }
  try {
    await makeTemplate(server.connectionString)
  } catch (error) {
    await teardown()
    throw error
  }
  project.provide('postgres', { maintenance: server.connectionString, template })
  return teardown
}

async function makeTemplate(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(`create database ${template}`)
    const address = new URL(connectionString)
    address.pathname = template
    await applyMigrations(address.href)
    // Nobody can be connected to it, which is what cloning asks for; so clones may be made side by side.
    await client.query(`alter database ${template} with is_template true allow_connections false`)
  } finally {
    await client.end()
  }
}

/** What a run that was killed left behind: its server still runs, and its folder would stay for ever. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix)) continue
    const dataDir = join(tmpdir(), name)
    const found = await stat(dataDir).catch(() => null)
    // A run that is just beginning has made its folder and not locked it yet.
    if (found && Date.now() - found.ctimeMs > youngFolderMs) await remove(dataDir)
  }
}

async function remove(dataDir: string): Promise<void> {
  await removeDataFolder(dataDir).catch((error) => {
    // In use: by a run that lives, or one that is clearing up here. Not permitted: another user's. Gone: another run was faster.
    if (!(error instanceof EmbeddedPostgresError) && !['EACCES', 'EPERM', 'ENOENT'].includes(error.code))
      throw error
  })
}
