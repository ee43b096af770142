import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { access, constants, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { EmbeddedPostgresError, wayOut } from './embedded-error.ts'
import { giveToOwner } from './server-user.ts'

/** Two starts at the same moment look at each other's lock for an instant; this is much longer. */
const contentionTimeoutMs = 1_000
const sqliteBusy = 5

/** A lock that nobody refers to would be let go by the garbage collector. */
const held = new Set<DatabaseSync>()

/**
 * Makes this process the only one that uses `folder`, until it disposes of the lock or dies in whatever way.
 *
 * The lock is the operating system's own record lock on the file `lock`, which ends with the process that holds it: a file
 * with a process id in it outlives a `kill -9`, and its id can come to mean another process (in containers it nearly always
 * does). Node has no call for such locks; an exclusive transaction in SQLite, which it carries, is one. Nothing is ever stored
 * in that file, and nobody may open and close it otherwise: closing any descriptor of it drops the process's lock.
 *
 * Throws `EmbeddedPostgresError`, IN_USE when another holder lives.
 */
export async function lockFolder(folder: string): Promise<Disposable> {
  const file = join(folder, 'lock')
  const holderFile = join(folder, 'holder.json')
  // SQLite would make the file itself, but when it cannot, it does not say why.
  await writeFile(file, '', { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await giveToOwner(folder, file)
  await access(file, constants.R_OK | constants.W_OK)
  const database = new DatabaseSync(file, { timeout: contentionTimeoutMs })
  try {
    // Beginning prepares to write; with the journal in memory not even a full disk is in the way.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (!(error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy)) {
      throw new EmbeddedPostgresError(
        'START_FAILED',
        `The data folder ${folder} cannot be locked: ${(error as Error).message}. Point HOLDPOINT_DATA_DIR to a local disk. ${wayOut}`,
        error,
      )
    }
    throw new EmbeddedPostgresError(
      'IN_USE',
      `The data folder ${folder} is in use by ${holder(holderFile)}. One embedded PostgreSQL belongs to one server process: ` +
        'stop that one first, or give this one a folder of its own with HOLDPOINT_DATA_DIR, ' +
        'or set DATABASE_URL to a PostgreSQL that both share.',
      error,
    )
  }
  held.add(database)
  const lock = {
    [Symbol.dispose]() {
      if (!held.delete(database)) return
      try {
        rmSync(holderFile, { force: true })
      } finally {
        database.close()
      }
    },
  }
  try {
    // Only for the message above: whether the folder is in use is the lock's word alone.
    rmSync(holderFile, { force: true })
    const about = { pid: process.pid, host: hostname(), since: new Date() }
    writeFileSync(holderFile, JSON.stringify(about), { mode: 0o600 })
    return lock
  } catch (error) {
    lock[Symbol.dispose]()
    throw error
  }
}

function holder(file: string): string {
  try {
    const { pid, host, since } = JSON.parse(readFileSync(file, 'utf8'))
    return `process ${pid} on ${host} since ${since}`
  } catch {
    return 'another process'
  }
}
