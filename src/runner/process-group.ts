import { listProcesses, type ProcessEntry } from './processes.ts'

/** The processes that are an agent's: it and what it has started. */
export interface ProcessGroup {
  /** Sends a signal to each of them. One that is gone is nobody's concern. */
  signal(signal: NodeJS.Signals): void
  isAlive(): boolean
}

/** How an agent is to be started, by what this process is to its terminal. */
export interface Standing {
  /**
   * `job`: the terminal's foreground job is we ourselves and whoever started us, so the agent joins it; then Ctrl-C, Ctrl-Z, a
   * new window size and a hang-up reach it as if it had been started by hand. `apart`: in a group and session of its own.
   */
  kind: 'job' | 'apart'
  /** False where the agent must not read from the terminal, as we are in its background. */
  mayRead: boolean
}

/** What this process is to the terminal that it was started on. */
export function findStanding(): Standing {
  if (!process.stdin.isTTY || process.platform === 'win32') return { kind: 'apart', mayRead: true }
  const processes = listProcesses()
  const own = processes.find(({ pid }) => pid === process.pid)
  if (!own) return { kind: 'apart', mayRead: true }
  if (own.foreground !== own.group) return { kind: 'apart', mayRead: false }
  const spared = ownLine(processes)
  // A neighbour in a pipeline is no agent of ours, and no signal for the agent may hit it.
  const alone = processes.every(({ pid, group }) => group !== own.group || spared.has(pid))
  return { kind: alone ? 'job' : 'apart', mayRead: true }
}

/** The group that the agent leads. */
export function groupOf(leader: number): ProcessGroup {
  return {
    signal: (name) => send(-leader, name),
    isAlive() {
      try {
        process.kill(-leader, 0)
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === 'EPERM'
      }
      // Where nobody collects orphans, what has ended would seem to live on.
      return (
        process.platform !== 'linux' || listProcesses().some(({ group, ended }) => group === leader && !ended)
      )
    },
  }
}

/**
 * What an agent has become in this process's own group: all in it but us, those who started us, and what they have started
 * beside us. What lost its parent counts as the agent's.
 */
export function restOfJob(): ProcessGroup {
  function members(): number[] {
    const processes = listProcesses()
    const byPid = new Map(processes.map((each) => [each.pid, each]))
    const own = byPid.get(process.pid)
    const line = ownLine(processes)
    function startedBy({ parent }: ProcessEntry): ProcessEntry | undefined {
      const found = byPid.get(parent)
      return found === undefined || line.has(parent) ? found : startedBy(found)
    }
    return processes
      .filter((each) => {
        if (each.group !== own?.group || each.ended || line.has(each.pid)) return false
        const starter = startedBy(each)
        return starter === undefined || starter.pid === process.pid || starter.group !== own.group
      })
      .map(({ pid }) => pid)
  }
  return {
    signal(name) {
      for (const pid of members()) send(pid, name)
    },
    isAlive: () => members().length > 0,
  }
}

/** This process, its parent, the parent's parent and so on. */
function ownLine(processes: readonly ProcessEntry[]): Set<number> {
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]))
  const line = new Set<number>()
  for (let pid: number | undefined = process.pid; pid !== undefined && !line.has(pid); pid = parents.get(pid))
    line.add(pid)
  return line
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
