import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import {
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
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
import { EmbeddedPostgresError, explainError, explainOutput, wayOut } from './embedded-error.ts'
import { lockFolder } from './folder-lock.ts'
import { clearOrphan, escalate, readPidFile } from './postmaster.ts'
import { giveToOwner } from './server-user.ts'

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
/** After a crash the server replays its log before it is ready, and may have a lot to replay. */
const readyTimeoutMs = 120_000
const readyPollMs = 15
/** Two servers may reach for one port at the same time; each try takes another. */
const startAttemptsMax = 5
/** How long the last connections of a server that was killed may hold its shared memory. */
const sharedMemoryRetryMs = 300
/** Between tries to start a server again that ended by itself. */
const startAgainMinMs = 200
const startAgainMaxMs = 10_000
const logBytesMax = 5 * 1024 * 1024
const logLinesShown = 12

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  // Errors of statements are told to whoever ran them; in the log they would bring what people wrote into a file, and let it grow.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
}

const settingsWithoutDurability = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

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

    const { child, port } = await startOnFreePort(folder, binaries, options)
    const again = () => startOnce(folder, binaries, port, durable)
    const server = supervised(folder, child, port, locks, again, log)
    try {
      if (port !== folder.port) await saveDataFolder({ ...folder, port })
    } catch (error) {
      await server.stop()
      throw error
    }
    log.info({ pid: child.pid, port, data: dataPath(folder.home) }, 'embedded PostgreSQL is ready')
    return server
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

async function startOnFreePort(
  folder: DataFolder,
  binaries: Binaries,
  { port, durable = true, log }: EmbeddedPostgresOptions,
) {
  let wanted = port ?? folder.port
  for (let attempt = 1; ; attempt++) {
    const chosen = await freePort(wanted)
    if (wanted && chosen !== wanted)
      log.warn({ taken: wanted, port: chosen }, 'the port of the embedded PostgreSQL is taken')
    const outcome = await startOnce(folder, binaries, chosen, durable)
    if (!('failure' in outcome)) return { child: outcome, port: chosen }
    if (attempt < startAttemptsMax && /Address already in use|could not bind/.test(outcome.failure)) {
      wanted = null
    } else if (attempt < startAttemptsMax && /shared memory block .* still in use/.test(outcome.failure)) {
      await delay(sharedMemoryRetryMs * attempt)
    } else {
      throw explainOutput(outcome.failure, folder.path, 'start')
    }
  }
}

async function startOnce(
  folder: DataFolder,
  { postgres }: Binaries,
  port: number,
  durable: boolean,
): Promise<ChildProcess | { failure: string }> {
  const data = dataPath(folder.home)
  const logFile = await openLog(folder)
  const logStart = (await logFile.stat()).size
  let child: ChildProcess
  try {
    const wanted = Object.entries({ ...settings, ...(durable ? {} : settingsWithoutDurability) })
    child = spawn(
      postgres,
      ['-D', data, '-p', String(port), ...wanted.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      { ...spawnOptions(folder.user), detached: true, stdio: ['ignore', logFile.fd, logFile.fd] },
    )
    // Fails when the process cannot be made at all.
    await once(child, 'spawn')
  } finally {
    await logFile.close()
  }
  const deadline = performance.now() + readyTimeoutMs
  while (isAlive(child)) {
    const file = await readPidFile(data)
    if (file?.pid === child.pid && file?.status === 'ready') return child
    if (performance.now() > deadline) await stopChild(child)
    else await delay(readyPollMs)
  }
  const written = await readFile(logPath(folder.home))
  return { failure: lastLines(written.subarray(logStart).toString()) }
}

/** A server that ends by itself is started again on the same port, so that whoever waits finds it where it was. */
function supervised(
  folder: DataFolder,
  first: ChildProcess,
  port: number,
  locks: DisposableStack,
  startAgain: () => Promise<ChildProcess | { failure: string }>,
  log: EmbeddedPostgresOptions['log'],
): EmbeddedPostgres {
  let child = first
  let starting: Promise<void> | undefined
  let stopped: Promise<void> | undefined
  const ending = new AbortController()
  // Whatever way this process ends that still lets it speak; a signal is all that can be done at that moment.
  const onExit = () => {
    if (isAlive(child)) child.kill('SIGINT')
  }
  process.once('exit', onExit)
  watch()

  function watch(): void {
    child.once('exit', (code, signal) => {
      if (ending.signal.aborted) return
      log.error(
        { code, signal, logFile: logPath(folder.home) },
        'the embedded PostgreSQL ended by itself and is started again',
      )
      starting = bringBack().catch((error: unknown) =>
        log.error({ err: error }, 'the embedded PostgreSQL cannot be started again; restart Holdpoint'),
      )
    })
    // Nobody has to wait for the server but whoever stops it.
    child.unref()
  }

  async function bringBack(): Promise<void> {
    for (
      let waitMs = startAgainMinMs;
      !ending.signal.aborted;
      waitMs = Math.min(waitMs * 2, startAgainMaxMs)
    ) {
      await clearOrphan(dataPath(folder.home))
      const outcome = await startAgain()
      if (!('failure' in outcome)) {
        child = outcome
        watch()
        log.warn({ pid: child.pid, port }, 'the embedded PostgreSQL is back')
        return
      }
      log.error({ failure: outcome.failure }, 'the embedded PostgreSQL does not start')
      await delay(waitMs, undefined, { ref: false, signal: ending.signal }).catch(() => {})
    }
  }

  return {
    connectionString: `postgresql://${superuser}:${folder.password}@127.0.0.1:${port}/${database}`,
    port,
    get pid() {
      return child.pid!
    },
    stop() {
      stopped ??= (async () => {
        ending.abort()
        await starting
        await stopChild(child)
      })().finally(() => {
        process.off('exit', onExit)
        locks.dispose()
      })
      return stopped
    },
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (!isAlive(child)) return
  child.ref()
  const exit = once(child, 'exit').then(() => true)
  await escalate(
    (signal) => child.kill(signal),
    async (patienceMs) => {
      const patience = new AbortController()
      const late = delay(patienceMs, false, { signal: patience.signal }).catch(() => false)
      const ended = await Promise.race([exit, late])
      patience.abort()
      return ended
    },
  )
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

/** `wanted` if nobody listens on it, else any port that is free at this moment. */
async function freePort(wanted: number | null | undefined): Promise<number> {
  const server = createServer()
  try {
    server.listen({ host: '127.0.0.1', port: wanted ?? 0, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    if (wanted && ['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code!))
      return freePort(null)
    throw error
  }
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

function logPath(home: string): string {
  return join(home, 'postgres.log')
}

/** The server's log and the one before it are kept, each bounded by what one run writes. */
async function openLog({ home, path }: DataFolder) {
  const file = logPath(home)
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  )
  if (size > logBytesMax) await rename(file, `${file}.1`)
  const handle = await open(file, 'a', 0o600)
  await giveToOwner(path, file)
  return handle
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-logLinesShown).join('\n')
}
