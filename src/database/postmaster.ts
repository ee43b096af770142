import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const pollIntervalMs = 15

/** How long each way to stop may take: a fast shutdown with its checkpoint, one without, and the end of all patience. */
const waysToStop: [NodeJS.Signals, number][] = [
  ['SIGINT', 5_000],
  ['SIGQUIT', 2_000],
  ['SIGKILL', 2_000],
]

/** What the main process of a PostgreSQL writes about itself into its data folder. */
export interface PidFile {
  pid: number
  /** The data folder under the name that the server was started with. */
  data: string
  status: string
}

export async function readPidFile(data: string): Promise<PidFile | null> {
  let lines: string[]
  try {
    lines = (await readFile(pidFile(data), 'utf8')).split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  return { pid: Number(lines[0]), data: lines[1] ?? '', status: lines[7]?.trim() ?? '' }
}

/**
 * Stops the PostgreSQL that an earlier holder of the data folder left running when it was killed, and clears away what a dead
 * one left. Answers the process id of what was stopped. Only for the holder of the folder's lock, to whom no living
 * server can belong to somebody else.
 *
 * PostgreSQL refuses to start while the process id in its file lives, whoever that is by now; so a file whose process is not
 * that server is removed. Were it wrong to do so, PostgreSQL's own check of its shared memory would still stop the second server.
 */
export async function clearOrphan(data: string): Promise<number | null> {
  const left = await readPidFile(data)
  if (!left) return null
  // In a copied folder it speaks of the original's server, which may well be alive and in use.
  const copied = left.data !== data && existsSync(pidFile(left.data))
  const orphaned = !copied && (await isServer(left))
  if (orphaned) {
    await escalate(
      (signal) => process.kill(left.pid, signal),
      async (patienceMs) => {
        const deadline = performance.now() + patienceMs
        while (await isServer(left)) {
          if (performance.now() > deadline) return false
          await delay(pollIntervalMs)
        }
        return true
      },
    )
  }
  await rm(pidFile(data), { force: true })
  return orphaned ? left.pid : null
}

/** Sends what stops a PostgreSQL, gently first. `ended` waits so long for its end and answers whether it came. */
export async function escalate(
  send: (signal: NodeJS.Signals) => void,
  ended: (patienceMs: number) => Promise<boolean>,
): Promise<void> {
  for (const [signal, patienceMs] of waysToStop) {
    try {
      send(signal)
    } catch (error) {
      // It ended by itself in the meantime.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
    if (await ended(patienceMs)) return
  }
  throw new Error('PostgreSQL did not end when it was killed; the machine is out of order or out of memory.')
}

function pidFile(data: string): string {
  return join(data, 'postmaster.pid')
}

async function isServer({ pid, data }: PidFile): Promise<boolean> {
  if (!(pid > 0)) return false
  const command = await commandLine(pid)
  return /[/\\](postgres|postmaster)(\.exe)? /.test(command) && command.includes(` ${data} `)
}

/** The command line of a process with a space behind each argument; empty for one that does not exist or waits to be reaped. */
async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return text.replaceAll('\0', ' ')
  }
  const { stdout } = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }))
  return stdout.replace(/\s*$/, ' ')
}
