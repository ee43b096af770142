import type { AgentProcess } from './agent-process.ts'
import { listProcesses } from './processes.ts'

export interface TerminalWatch extends Disposable {
  /** When Ctrl-C was pressed last; null if never. */
  readonly interruptedAt: Date | null
}

/** What means for the agent what it means for us. */
const passedOn: NodeJS.Signals[] = ['SIGQUIT', 'SIGWINCH', 'SIGUSR1', 'SIGUSR2', 'SIGCONT']

/**
 * Outlives what a terminal or another process tells us, and sees to it that the agent hears of it: in one job with us it has
 * heard the terminal itself, in a group apart it has not. SIGTERM and SIGHUP end it, with a kill when it does not listen.
 */
export function watchTerminal(agent: AgentProcess): TerminalWatch {
  let interruptedAt: Date | null = null
  const apart = agent.standing === 'apart'
  const listeners = new Map<NodeJS.Signals, () => void>([
    [
      'SIGINT',
      () => {
        interruptedAt = new Date()
        if (apart) agent.signal('SIGINT')
      },
    ],
    ['SIGTERM', () => void agent.end('SIGTERM')],
    ['SIGHUP', () => void agent.end('SIGHUP')],
  ])
  if (apart) {
    for (const name of passedOn) listeners.set(name, () => agent.signal(name))
    listeners.set('SIGTSTP', () => {
      // Not SIGTSTP: the system ignores that one in a group that no shell looks after.
      agent.signal('SIGSTOP')
      process.kill(process.pid, 'SIGSTOP')
    })
  } else {
    listeners.set('SIGQUIT', () => {})
    listeners.set('SIGCHLD', () => {
      // A program that stops itself alone, and not its job, would leave us in the foreground, and the shell waiting.
      if (listProcesses().some(({ pid, stopped }) => pid === agent.pid && stopped)) process.kill(0, 'SIGTSTP')
    })
  }

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
