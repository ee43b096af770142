import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Log } from '../base/log.ts'
import { type Binaries, findBinaries, spawnOptions } from './binaries.ts'
import {
  type DataFolder,
  dataPath,
  findHome,
  homeInside,
  openDataFolder,
  saveDataFolder,
} from './data-folder.ts'
import { EmbeddedPostgresError, explainError, explainOutput, lastLines, wayOut } from './embedded-error.ts'
import { lockFolder } from './folder-lock.ts'
import { clearOrphan } from './postmaster.ts'
import { startOnFreePort } from './server.ts'
import { supervise } from './supervise.ts'

export interface EmbeddedPostgres {
  /** Superuser's address with its password in it. */
  connectionString: string
  port: number
  /** Of the server that runs now: one that ends by itself is followed by another. */
  readonly pid: number
  /**
   * Ends the server and gives the data folder free: a fast shutdown, which cuts open connections, and harder ways when that
   * takes longer than 5 s. May be called more than once.
   */
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  /** Made when missing. A relative path counts from the working directory. */
  dataDir: string
  /** The port to try first; without it the one of the last start, or a free one. A taken port is replaced by a free one. */
  port?: number
  /** False gives up what a crash of the machine leaves intact, for speed: for throw-away databases only. */
  durable?: boolean
  log: Pick<Log, 'info' | 'warn' | 'error'>
}

const superuser = 'holdpoint'
const database = 'postgres'
const initdbTimeoutMs = 60_000

/**
 * Starts the PostgreSQL of `dataDir`, making it on the first start, and returns when it takes connections. It listens on
 * 127.0.0.1 only and asks for a generated password.
 *
 * The server is in a process group of its own, so that Ctrl-C in a terminal does not end it before its users are done. If this
 * process is killed it goes on alone, and the next start on the folder stops it and takes over.
 *
 * Throws `EmbeddedPostgresError`, whose message says what to do.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataDir, durable = true, log } = options
  const locks = new DisposableStack()
  try {
    // Only the folder itself is private: closed parents would drive root's database out of it.
    await mkdir(dirname(resolve(dataDir)), { recursive: true })
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    const path = await realpath(dataDir)
    locks.use(await lockFolder(path))
    const folder = await openDataFolder(path)
    // A copy of the folder names the same home; its lock keeps the two apart.
    if (folder.home !== homeInside(path)) locks.use(await lockFolder(folder.home))

    const orphan = await clearOrphan(dataPath(folder.home))
    if (orphan)
      log.warn({ pid: orphan }, 'stopped the embedded PostgreSQL that a killed server had left running')

    const binaries = await findBinaries(folder.user, folder.home)
    await clearUnfinished(folder.home)
    if (!folder.initialised) {
      // A kill may have come between the database and the note of it.
      if (!existsSync(dataPath(folder.home))) await initialise(folder, binaries, durable)
      folder.initialised = true
      await saveDataFolder(folder)
    }
    await checkVersion(folder, binaries)

    const start = { folder, binaries, durable }
    const { child, port } = await startOnFreePort(start, options.port ?? folder.port, log)
    const server = supervise(child, start, port, log)
    try {
      if (port !== folder.port) await saveDataFolder({ ...folder, port })
    } catch (error) {
      await server.stop()
      throw error
    }
    log.info({ pid: child.pid, port, data: dataPath(folder.home) }, 'embedded PostgreSQL is ready')
    return {
      connectionString: `postgresql://${superuser}:${folder.password}@127.0.0.1:${port}/${database}`,
      port,
      get pid() {
        return server.pid
      },
      stop: () => server.stop().finally(() => locks.dispose()),
    }
  } catch (error) {
    locks.dispose()
    throw explainError(error, dataDir)
  }
}

/**
 * Removes a data folder and its database, wherever root had to put it, with a server that was left running in it. Throws
 * `EmbeddedPostgresError` IN_USE when a living process holds it.
 */
export async function removeDataFolder(dataDir: string): Promise<void> {
  const path = await realpath(dataDir)
  using _lock = await lockFolder(path)
  const home = await findHome(path)
  await clearOrphan(dataPath(home))
  for (const folder of [home, path]) await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** Removes what a first start that was killed left half made. */
async function clearUnfinished(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (name.startsWith('unfinished-'))
      await rm(join(home, name), { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Makes `data` in one step: whatever happens in between, it is either whole or not there. */
async function initialise(folder: DataFolder, { initdb }: Binaries, durable: boolean): Promise<void> {
  const { home, user, password } = folder
  // A new name each time, because an `initdb` whose parent was killed may still be at work in the last one.
  const unfinished = join(home, `unfinished-${randomBytes(4).toString('hex')}`)
  const passwordFile = `${unfinished}-password`
  await mkdir(unfinished, { mode: 0o700 })
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (user) for (const made of [unfinished, passwordFile]) await chown(made, user.uid, user.gid)
  try {
    await promisify(execFile)(
      initdb,
      [
        ['-D', unfinished],
        [`--username=${superuser}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
        ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        ['--no-instructions', ...(durable ? [] : ['--no-sync'])],
      ].flat(),
      { ...spawnOptions(user), timeout: initdbTimeoutMs },
    )
    await rename(unfinished, dataPath(home))
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true, maxRetries: 5 })
    if (!(error instanceof Error && 'stderr' in error)) throw error
    throw explainOutput(lastLines(String(error.stderr) || error.message), folder.path, 'make its database')
  } finally {
    await rm(passwordFile, { force: true })
  }
}

async function checkVersion({ path, home }: DataFolder, { major }: Binaries): Promise<void> {
  const made = (await readFile(join(dataPath(home), 'PG_VERSION'), 'utf8')).trim()
  if (made === major) return
  throw new EmbeddedPostgresError(
    'INCOMPATIBLE',
    `The database of ${path} was made by PostgreSQL ${made}, and this version of Holdpoint brings PostgreSQL ${major}. ` +
      `Start the version that made it, save the data with pg_dump, and load them into the new one. ${wayOut}`,
  )
}
