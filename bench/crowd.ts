import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Command, Reply } from './clients.ts'

/** The clients of clients.ts, in a process of their own. */
export interface Crowd extends AsyncDisposable {
  tell(command: Command): Promise<void>
  /** When so many messages have come: the moment of each, and the text of the last. */
  collect(count: number): Promise<{ arrivals: number[]; bytes: string }>
}

const patienceMs = 120_000

export function gather(): Crowd {
  const child = fork(join(import.meta.dirname, 'clients.ts'))
  async function ask(command: Command): Promise<Reply> {
    const late = AbortSignal.timeout(patienceMs)
    child.send(command)
    const [reply] = (await once(child, 'message', { signal: late })) as [Reply]
    if ('error' in reply) throw new Error(reply.error)
    return reply
  }
  return {
    async tell(command) {
      await ask(command)
    },
    async collect(count) {
      return (await ask({ do: 'collect', count })) as { arrivals: number[]; bytes: string }
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.kill()
      await once(child, 'exit')
    },
  }
}
