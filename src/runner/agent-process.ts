import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../gate/environment.ts'

/** How a process ended: one of the two is null. */
export interface Ending {
  exitCode: number | null
  signal: NodeJS.Signals | null
}

export interface AgentProcess {
  /** Also the id of its process group. */
  readonly pid: number
  readonly startedAt: Date
  /** Never rejects. */
  readonly ended: Promise<Ending>
  /** Sends a signal to the whole group; one that is gone is none's concern. */
  signal(signal: NodeJS.Signals): void
  /**
   * Ends the whole group: `signal` (SIGTERM) now, SIGKILL after the grace. Settles when the group is gone. Calling it again changes nothing.
   */
  end(signal?: NodeJS.Signals): Promise<void>
}

export type Spawned =
  | { ok: true; process: AgentProcess }
  /** As a shell tells it: 127 not found, 126 cannot be executed. */
  | { ok: false; exitCode: 126 | 127; reason: string }

export const endGraceMs = 10_000
const groupPollMs = 50

/**
 * Starts a command as the leader of a process group of its own, on the very terminal, pipes or files of this process.
 *
 * The group is one of a session of its own too (that is what Node's `detached` gives). To a terminal such a process is not in
 * the background, so it may read from it and set it up; but the terminal sends it no signals: what Ctrl-C, Ctrl-Z, a
 * new window size or a hang-up mean is passed on by `terminal.ts`.
 */
export async function spawnAgent(
  [command, ...parameters]: readonly string[],
  { cwd, environment, graceMs = endGraceMs }: { cwd: string; environment: Environment; graceMs?: number },
): Promise<Spawned> {
  if (command === undefined) throw new Error('there is no command to start')
  const child = spawn(command, parameters, {
    cwd,
    env: environment,
    stdio: [isInForeground() ? 'inherit' : 'ignore', 'inherit', 'inherit'],
    detached: true,
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
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-pid, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }

  let ending: Promise<void> | null = null
  async function end(name: NodeJS.Signals): Promise<void> {
    signal(name)
    // What is stopped does not hear anything but a kill before it goes on.
    signal('SIGCONT')
    const deadline = performance.now() + graceMs
    while (isGroupAlive(pid) && performance.now() < deadline) await sleep(groupPollMs)
    if (isGroupAlive(pid)) signal('SIGKILL')
    await ended
  }
  return {
    ok: true,
    process: {
      pid,
      startedAt: new Date(),
      ended,
      signal,
      end: (name = 'SIGTERM') => (ending ??= end(name)),
    },
  }
}

/** Whether anything of a process group still runs. What has ended and was not collected by its parent does not. */
export function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  if (process.platform !== 'linux') return true
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false
    const state = stateOf(Number(name))
    return state !== null && state.group === group && state.letter !== 'Z'
  })
}

/** Whether a process is stopped, as by Ctrl-Z. */
export function isStopped(pid: number): boolean {
  if (process.platform === 'linux') return stateOf(pid)?.letter === 'T'
  return (
    spawnSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' })
      .stdout?.trim()
      .startsWith('T') ?? false
  )
}

/**
 * Whether this process may read from its terminal. One that a shell has put into the background may not; what it starts
 * in a session of its own could, and would take the shell's input away.
 */
function isInForeground(): boolean {
  if (!process.stdin.isTTY || process.platform !== 'linux') return true
  const own = stateOf(process.pid)
  return own === null || own.foreground === own.group
}

interface ProcessState {
  /** `R`, `S`, `T` (stopped), `Z` (ended) and so on. */
  letter: string
  group: number
  /** The group in the foreground of its terminal; -1 without one. */
  foreground: number
}

/** The state of a process on Linux; null when there is no such process. */
function stateOf(pid: number): ProcessState | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second word is the program's name in parentheses, which may hold blanks and parentheses itself.
    const [letter, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { letter: letter!, group: Number(group), foreground: Number(foreground) }
  } catch {
    return null
  }
}
