import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../base/log.ts'
import { dataPath } from './data-folder.ts'
import { clearOrphan } from './postmaster.ts'
import { isAlive, logPath, type ServerStart, startOn, stopServer } from './server.ts'

export interface SupervisedServer {
  /** Of the process that runs now. */
  readonly pid: number
  /** Ends the server for good. May be called more than once. */
  stop(): Promise<void>
}

/** Between tries to start a server again that ended by itself. */
const startAgainMinMs = 200
const startAgainMaxMs = 10_000

/**
 * Keeps a server running that was started on `port`. One that ends by itself is started again there, so that whoever waits finds
 * it where it was.
 */
export function supervise(
  first: ChildProcess,
  start: ServerStart,
  port: number,
  log: Pick<Log, 'warn' | 'error'>,
): SupervisedServer {
  const { home } = start.folder
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
        { code, signal, logFile: logPath(home) },
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
      await clearOrphan(dataPath(home))
      const outcome = await startOn(start, port)
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

  async function stop(): Promise<void> {
    ending.abort()
    try {
      await starting
      await stopServer(child)
    } finally {
      process.off('exit', onExit)
    }
  }

  return {
    get pid() {
      return child.pid!
    },
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}
