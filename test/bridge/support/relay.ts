import { expect } from 'vitest'
import { createRelay } from '../../../src/bridge/relay.ts'
import type { AgentQuestion, Outcome } from '../../../src/mcp/asker.ts'

/** A question that reached the gate, to be answered by hand. */
export interface Held {
  question: AgentQuestion
  withdrawn: boolean
  answer(outcome: Partial<Outcome>): void
  fail(error: Error): void
}

/** A relay between two ends that a test plays, over a gate that it plays too. */
export function playRelay(options: { serverName?: string | null; progressMs?: number } = {}) {
  const client: string[] = []
  const server: string[] = []
  const held: Held[] = []
  const logged: string[] = []
  const relay = createRelay({
    serverName: options.serverName ?? null,
    progressMs: options.progressMs ?? 60_000,
    toClient: (line) => client.push(line.toString()),
    toServer: (line) => server.push(line.toString()),
    log: (message) => logged.push(message),
    gate: {
      hold: (question, signal) =>
        new Promise((resolve, reject) => {
          const each: Held = {
            question,
            withdrawn: false,
            answer: (outcome) => resolve({ action: 'accept', content: null, note: null, ...outcome }),
            fail: reject,
          }
          held.push(each)
          const takeBack = () => {
            each.withdrawn = true
            resolve(null)
          }
          if (signal.aborted) takeBack()
          else signal.addEventListener('abort', takeBack)
        }),
    },
  })
  const line = (message: unknown) =>
    Buffer.from(typeof message === 'string' ? message : JSON.stringify(message))
  return {
    relay,
    held,
    logged,
    /** What either end was sent, as it was sent. */
    client,
    server,
    fromClient: (message: unknown) => relay.fromClient(line(message)),
    fromServer: (message: unknown) => relay.fromServer(line(message)),
    /** The lines that an end was sent, as soon as there are so many. */
    async sent(to: 'client' | 'server', count: number): Promise<any[]> {
      const lines = to === 'client' ? client : server
      await expect.poll(() => lines.length, { interval: 5 }).toBeGreaterThanOrEqual(count)
      return lines.map((each) => JSON.parse(each))
    },
    async asked(count: number): Promise<Held[]> {
      await expect.poll(() => held.length, { interval: 5 }).toBeGreaterThanOrEqual(count)
      return held
    },
  }
}

export const call = (id: number | string, more: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'delete_tenant', arguments: { tenant: 'acme' }, ...more },
})

export const elicitation = (id: number | string, params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'elicitation/create',
  params: {
    message: 'Delete it?',
    requestedSchema: { type: 'object', properties: { confirm: { type: 'boolean' } } },
    ...params,
  },
})
