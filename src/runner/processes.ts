import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A process as the system lists it. */
export interface ProcessEntry {
  pid: number
  parent: number
  group: number
  /** The group in the foreground of its terminal; not above 0 without a terminal. */
  foreground: number
  /** It has been stopped, as by Ctrl-Z. */
  stopped: boolean
  /** It has ended, and waits for its parent to notice. */
  ended: boolean
}

/** All processes of the machine that this user may see. */
export function listProcesses(): ProcessEntry[] {
  return process.platform === 'linux' ? listByProc() : listByPs()
}

function listByProc(): ProcessEntry[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      // The second word is the program's name in parentheses, which may hold blanks and parentheses itself.
      const [state, parent, group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return [
        {
          pid: Number(name),
          parent: Number(parent),
          group: Number(group),
          foreground: Number(foreground),
          stopped: state === 'T',
          ended: state === 'Z' || state === 'X',
        },
      ]
    } catch {
      // Gone since it was listed.
      return []
    }
  })
}

function listByPs(): ProcessEntry[] {
  const ps = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,tpgid=,stat='], { encoding: 'utf8' })
  return (ps.stdout ?? '').split('\n').flatMap((line) => {
    const [pid, parent, group, foreground, state] = line.trim().split(/\s+/)
    // It lists itself, too.
    if (state === undefined || Number(pid) === ps.pid) return []
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        foreground: Number(foreground),
        stopped: state.startsWith('T'),
        ended: state.startsWith('Z'),
      },
    ]
  })
}

/** The kernel counts in hundredths of a second wherever Node runs. */
const ticksPerSecond = 100

/** When a process was started; null where there is none, or the system does not tell. */
export function startOf(pid: number): Date | null {
  if (process.platform !== 'linux') return null
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const ticks = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
    const boot = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1])
    return new Date((boot + ticks / ticksPerSecond) * 1_000)
  } catch {
    return null
  }
}
