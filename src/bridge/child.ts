import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { atMost } from './at-most.ts'

type Piped = ChildProcess & {
  stdin: NonNullable<ChildProcess['stdin']>
  stdout: NonNullable<ChildProcess['stdout']>
}

export interface Child {
  process: Piped
  /** The code that it ended with: 128 and the number where it was a signal, 126 or 127 where it could not be started. */
  exited: Promise<number>
  /**
   * Ends it, and whatever it started with it. Its stdin is closed first. `signal` is passed on at once; with null it is
   * given time to end by itself.
   */
  stop(signal: NodeJS.Signals | null): Promise<void>
}

/** Both within what the SDK's client leaves a server that it closes: 2 s until it sends SIGTERM, 2 s more until SIGKILL. */
const stdinGraceMs = 1_000
const signalGraceMs = 1_500
/** How long what the server has started may outlive it. */
const leftoverGraceMs = 500
const leftoverPollMs = 25

/** Starts a server in a process group of its own, so that all of it can be ended. */
export function startChild(
  [command, ...args]: readonly [string, ...string[]],
  environment: NodeJS.ProcessEnv,
  log: (message: string) => void,
): Child {
  const child = spawn(command, args, {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  }) as Piped
  let ended = false
  const exited = new Promise<number>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      ended = true
      log(`The MCP server cannot be started: ${error.message}. Check the command behind --.`)
      resolve(error.code === 'ENOENT' ? 127 : 126)
    })
    child.once('exit', (code, signal) => {
      ended = true
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))
    })
  })

  /** False when nobody is left in the group. */
  function signalGroup(signal: NodeJS.Signals | 0): boolean {
    if (child.pid === undefined) return false
    try {
      return process.kill(-child.pid, signal)
    } catch {
      return false
    }
  }

  async function endsWithin(ms: number): Promise<boolean> {
    await atMost(ms, exited)
    return ended
  }

  return {
    process: child,
    exited,
    async stop(signal) {
      child.stdin.end()
      if (!ended && (signal !== null || !(await endsWithin(stdinGraceMs)))) {
        signalGroup(signal ?? 'SIGTERM')
        if (!(await endsWithin(signalGraceMs))) signalGroup('SIGKILL')
      }
      await exited
      if (!signalGroup('SIGTERM')) return
      for (let waitedMs = 0; waitedMs < leftoverGraceMs && signalGroup(0); waitedMs += leftoverPollMs)
        await pause(leftoverPollMs)
      signalGroup('SIGKILL')
    },
  }
}
