import { type AgentProcess, isStopped } from './agent-process.ts'

export interface TerminalWatch extends Disposable {
  /** When Ctrl-C was pressed last; null if never. */
  readonly interruptedAt: Date | null
}

/** Signals that mean for the agent what they mean for us. */
const passedOn: NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGWINCH', 'SIGUSR1', 'SIGUSR2']

/**
 * Passes on to the agent's process group what the terminal and other processes tell this one, as the group is not the one that
 * the terminal knows (see agent-process.ts). SIGTERM and SIGHUP end the agent, with a kill when it does not listen.
 * Ctrl-Z stops both; going on goes on with both. Where the agent stops itself, as a full-screen program does on Ctrl-Z,
 * this process stops too: otherwise the shell would not take the terminal back.
 */
export function watchTerminal(agent: AgentProcess): TerminalWatch {
  let interruptedAt: Date | null = null
  let stopped = false
  const listeners = new Map<NodeJS.Signals, () => void>()
  for (const name of passedOn) listeners.set(name, () => agent.signal(name))
  listeners.set('SIGINT', () => {
    interruptedAt = new Date()
    agent.signal('SIGINT')
  })
  listeners.set('SIGTERM', () => void agent.end('SIGTERM'))
  listeners.set('SIGHUP', () => void agent.end('SIGHUP'))
  listeners.set('SIGTSTP', () => {
    stopped = true
    // Not SIGTSTP: the system ignores that one in a group that no shell looks after.
    agent.signal('SIGSTOP')
    process.kill(process.pid, 'SIGSTOP')
  })
  listeners.set('SIGCONT', () => {
    stopped = false
    agent.signal('SIGCONT')
  })
  if (process.stdin.isTTY)
    listeners.set('SIGCHLD', () => {
      // Also sent for the stop that was our own doing, and only noticed once we go on.
      if (stopped || !isStopped(agent.pid)) return
      stopped = true
      process.kill(0, 'SIGSTOP')
    })

  for (const [name, listener] of listeners) process.on(name, listener)
  return {
    get interruptedAt() {
      return interruptedAt
    },
    [Symbol.dispose]() {
      for (const [name, listener] of listeners) process.off(name, listener)
    },
  }
}
