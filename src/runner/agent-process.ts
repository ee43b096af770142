import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../gate/environment.ts'
import { findStanding, groupOf, restOfJob, type Standing } from './process-group.ts'

/** How a process ended: one of the two is null. */
export interface Ending {
  exitCode: number | null
  signal: NodeJS.Signals | null
}

export interface AgentProcess {
  readonly pid: number
  readonly startedAt: Date
  /** Whether the terminal's signals reach it by themselves. */
  readonly standing: Standing['kind']
  /** Never rejects. */
  readonly ended: Promise<Ending>
  /** Sends a signal to it and to all that it started. */
  signal(signal: NodeJS.Signals): void
  /**
   * Ends it and all that it started: `signal` (SIGTERM) now, SIGKILL after the grace. Settles when they are gone. Calling it again
   * changes nothing.
   */
  end(signal?: NodeJS.Signals): Promise<void>
}

export type Spawned =
  | { ok: true; process: AgentProcess }
  /** As a shell tells it: 127 not found, 126 cannot be executed. */
  | { ok: false; exitCode: 126 | 127; reason: string }

const endGraceMs = 10_000
const groupPollMs = 50
/** What multiplies faster than it is killed is left to the system. */
const killsMax = 20

/** Starts a command on the very terminal, pipes or files of this process, so that all of its processes can be ended together. */
export async function spawnAgent(
  [command, ...parameters]: readonly string[],
  { cwd, environment, graceMs = endGraceMs }: { cwd: string; environment: Environment; graceMs?: number },
): Promise<Spawned> {
  if (command === undefined) throw new Error('there is no command to start')
  const standing = findStanding()
  const child = spawn(command, parameters, {
    cwd,
    env: environment,
    stdio: [standing.mayRead ? 'inherit' : 'ignore', 'inherit', 'inherit'],
    detached: standing.kind === 'apart',
  })
  const ended = new Promise<Ending>((resolve) =>
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal })),
  )
  try {
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT'
      ? { ok: false, exitCode: 127, reason: `there is no command ${command} (or no folder ${cwd})` }
      : { ok: false, exitCode: 126, reason: code === 'EACCES' ? `${command} may not be executed` : message }
  }
  const pid = child.pid!
  const group = standing.kind === 'job' ? restOfJob() : groupOf(pid)

  async function end(signal: NodeJS.Signals): Promise<void> {
    group.signal(signal)
    // What is stopped hears nothing else before it goes on.
    group.signal('SIGCONT')
    const deadline = performance.now() + graceMs
    while (group.isAlive() && performance.now() < deadline) await sleep(groupPollMs)
    for (let kills = 0; group.isAlive() && kills < killsMax; kills++) {
      group.signal('SIGKILL')
      await sleep(groupPollMs)
    }
    await ended
  }
  let ending: Promise<void> | null = null
  return {
    ok: true,
    process: {
      pid,
      startedAt: new Date(),
      standing: standing.kind,
      ended,
      signal: group.signal,
      end: (signal = 'SIGTERM') => (ending ??= end(signal)),
    },
  }
}
