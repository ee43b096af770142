import { setTimeout as delay } from 'node:timers/promises'
import { requestId } from '../../support/ask.ts'
import type { Chance } from './chance.ts'

export interface Traffic {
  /** What a server has said yes to; it must still be so, whatever died since. */
  acknowledged: {
    asked: Set<string>
    answered: Map<string, string>
    /** What polls carried away. */
    delivered: Map<string, string>
  }
  /** Replies that nothing explains, such as a refusal of what was fine. */
  surprises: string[]
  /** Lets what is under way come to an end. */
  stop(): Promise<void>
}

const actions = ['accept', 'decline', 'cancel'] as const

/**
 * Agents that ask and poll, and people who answer, as fast as they get replies. A server that dies or refuses for want of its
 * database is asked the same again, as a client would; only what was acknowledged counts.
 */
export function startTraffic(options: {
  urls: () => string[]
  key: string
  sessions: string[]
  hands: number
  /** How long an agent thinks before it asks again; without it the traffic takes all the machine has. */
  thinkMs?: number
  chance: Chance
}): Traffic {
  const { urls, key, sessions, hands, thinkMs = 0, chance } = options
  const acknowledged = {
    asked: new Set<string>(),
    answered: new Map<string, string>(),
    delivered: new Map<string, string>(),
  }
  const surprises: string[] = []
  const stopping = new AbortController()

  /** A reply, or null when there was none that says anything. */
  async function send(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: any } | null> {
    const addresses = urls()
    const url = addresses[chance.below(addresses.length)]!
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          'x-api-key': key,
          // Every request from somewhere else, as the rate limits count by address.
          'x-forwarded-for': `10.${chance.below(256)}.${chance.below(256)}.${chance.below(256)}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      })
      return { status: response.status, body: await response.json() }
    } catch {
      return null
    }
  }

  /** Asks until there is a reply that means something, or everybody goes home. */
  async function insist(...request: Parameters<typeof send>): Promise<{ status: number; body: any } | null> {
    while (!stopping.signal.aborted) {
      const reply = await send(...request)
      if (reply && reply.status !== 503) return reply
      await delay(20)
    }
    return null
  }

  async function agent(): Promise<void> {
    while (!stopping.signal.aborted) {
      const id = requestId()
      const asked = await insist('POST', '/api/v1/elicitations', {
        message: 'Delete the tenant acme?',
        _meta: {
          'com.pulsemcp/request-id': id,
          'com.pulsemcp/session-id': sessions[chance.below(sessions.length)],
        },
      })
      if (!asked) return
      if (asked.status !== 201 && asked.status !== 200) {
        surprises.push(`asking: ${asked.status} ${JSON.stringify(asked.body)}`)
        continue
      }
      acknowledged.asked.add(id)
      const answering = person(id)
      await waitFor(id)
      await answering
      if (thinkMs > 0) await delay(chance.below(thinkMs))
    }
  }

  /** Polls until there is a final answer. */
  async function waitFor(id: string): Promise<void> {
    for (;;) {
      const polled = await insist('GET', `/api/v1/elicitations/${id}?wait=5`)
      if (!polled) return
      if (polled.status !== 200) surprises.push(`polling: ${polled.status} ${JSON.stringify(polled.body)}`)
      if (polled.status !== 200 || polled.body.action === 'pending') continue
      acknowledged.delivered.set(id, polled.body.action)
      return
    }
  }

  async function person(id: string): Promise<void> {
    await delay(chance.below(50))
    const action = actions[chance.below(actions.length)]!
    const answered = await insist('PATCH', `/api/v1/elicitations/${id}/respond`, { action_type: action })
    if (!answered) return
    if (answered.status === 200) acknowledged.answered.set(id, answered.body.action)
    else surprises.push(`answering: ${answered.status} ${JSON.stringify(answered.body)}`)
  }

  const working = Array.from({ length: hands }, agent)
  return {
    acknowledged,
    surprises,
    async stop() {
      stopping.abort()
      await Promise.all(working)
    },
  }
}
