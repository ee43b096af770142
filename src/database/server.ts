import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, rename, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../base/log.ts'
import { type Binaries, spawnOptions } from './binaries.ts'
import { type DataFolder, dataPath } from './data-folder.ts'
import { explainOutput, lastLines } from './embedded-error.ts'
import { escalate, readPidFile } from './postmaster.ts'
import { giveToOwner } from './server-user.ts'

/** What is needed to start the PostgreSQL of a data folder. */
export interface ServerStart {
  folder: DataFolder
  binaries: Binaries
  /** False gives up what a crash of the machine leaves intact, for speed. */
  durable: boolean
}

/** After a crash the server replays its log before it is ready, and may have a lot to replay. */
const readyTimeoutMs = 120_000
const readyPollMs = 15
/** Two servers may reach for one port at the same time; each try takes another. */
const startAttemptsMax = 5
/** How long the last connections of a server that was killed may hold its shared memory. */
const sharedMemoryRetryMs = 300
const logBytesMax = 5 * 1024 * 1024

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
 * Starts the server on `wanted`, or on a free port where that is taken or null. Settles when it takes connections; throws
 * `EmbeddedPostgresError`.
 */
export async function startOnFreePort(
  start: ServerStart,
  wanted: number | null,
  log: Pick<Log, 'warn'>,
): Promise<{ child: ChildProcess; port: number }> {
  let asked = wanted
  for (let attempt = 1; ; attempt++) {
    const chosen = await freePort(asked)
    if (asked && chosen !== asked)
      log.warn({ taken: asked, port: chosen }, 'the port of the embedded PostgreSQL is taken')
    const outcome = await startOn(start, chosen)
    if (!('failure' in outcome)) return { child: outcome, port: chosen }
    if (attempt < startAttemptsMax && /Address already in use|could not bind/.test(outcome.failure)) {
      asked = null
    } else if (attempt < startAttemptsMax && /shared memory block .* still in use/.test(outcome.failure)) {
      await delay(sharedMemoryRetryMs * attempt)
    } else {
      throw explainOutput(outcome.failure, start.folder.path, 'start')
    }
  }
}

/** Starts the server on a port: its process once it takes connections, or its last words. */
export async function startOn(
  { folder, binaries, durable }: ServerStart,
  port: number,
): Promise<ChildProcess | { failure: string }> {
  const data = dataPath(folder.home)
  const logFile = await openLog(folder)
  const logStart = (await logFile.stat()).size
  let child: ChildProcess
  try {
    const wanted = Object.entries({ ...settings, ...(durable ? {} : settingsWithoutDurability) })
    child = spawn(
      binaries.postgres,
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
    if (performance.now() > deadline) await stopServer(child)
    else await delay(readyPollMs)
  }
  const written = await readFile(logPath(folder.home))
  return { failure: lastLines(written.subarray(logStart).toString()) }
}

/** Gently first, and with a kill in the end. */
export async function stopServer(child: ChildProcess): Promise<void> {
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

export function isAlive(child: ChildProcess): boolean {
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

export function logPath(home: string): string {
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
