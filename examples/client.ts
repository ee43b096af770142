import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from 'graphql-ws'

/** All that an integration needs of Holdpoint's GraphQL: to ask, to answer, and to stay current. */

export const url = (process.env.HOLDPOINT_URL ?? 'http://127.0.0.1:4010').replace(/\/+$/, '')
const apiKey = process.env.HOLDPOINT_API_KEY

const pingMs = 10_000
const pongWithinMs = 5_000
const pauseMaxMs = 30_000

/** The key is missing or wrong: to try again is of no use. */
export class KeyError extends Error {}

/** One query or mutation. Throws for what is wrong with the question; what a mutation refuses is part of its data. */
export async function graphql<Data>(query: string, variables: object = {}): Promise<Data> {
  if (!apiKey) throw new KeyError('Set HOLDPOINT_API_KEY to a key of the role responder.')
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': apiKey },
    body: JSON.stringify({ query, variables }),
  })
  const { data, errors } = (await response.json()) as { data: Data; errors?: { message: string }[] }
  if (response.status === 401) throw new KeyError(errors?.[0]?.message)
  if (errors) throw new Error(errors.map(({ message }) => message).join(' '))
  return data
}

/** The part of a request that says whether it can be answered without filling anything in. */
export interface Question {
  mode: 'FORM' | 'URL'
  form: { confirmation: string | null; fields: { required: boolean }[] } | null
}

export const questionFields = 'mode form { confirmation fields { required } }'

/** A yes alone answers it. A confirmation is one field that Accept itself fills in. */
export function takesBareYes({ mode, form }: Question): boolean {
  if (mode === 'URL' || form === null) return false
  return form.confirmation !== null || form.fields.every(({ required }) => !required)
}

export interface Verdict {
  action: 'ACCEPT' | 'DECLINE' | 'CANCEL'
  note?: string
}

/** @returns null, or why the answer was refused: mostly that somebody else was faster. */
export async function respond(id: string, verdict: Verdict): Promise<string | null> {
  const { respondToElicitation } = await graphql<{ respondToElicitation: { message?: string } }>(
    `mutation Respond($input: RespondToElicitationInput!) {
      respondToElicitation(input: $input) { ... on UserError { message } }
    }`,
    { input: { id, ...verdict } },
  )
  return respondToElicitation.message ?? null
}

/**
 * Reads a snapshot, then hands over every change after it, for as long as the signal lasts. When the connection is lost, for
 * whatever reason, it begins again with a new snapshot: so nothing is missed, and there is nothing else to know about reconnecting.
 */
export async function stayCurrent<Change>(options: {
  snapshot: () => Promise<void>
  /** A subscription that takes `$after: EventCursor`. */
  subscription: string
  onChange: (change: Change) => void | Promise<void>
  onLost: (reason: string) => void
  signal: AbortSignal
}): Promise<void> {
  const { snapshot, subscription, onChange, onLost, signal } = options
  for (let failures = 0; !signal.aborted; failures++) {
    let reason = 'the server ended it'
    const client = connect()
    const leave = () => void client.dispose()
    signal.addEventListener('abort', leave, { once: true })
    try {
      // First the position, then what there is: what happens in between is replayed, and does no harm twice.
      const { eventCursor } = await graphql<{ eventCursor: string }>('{ eventCursor }')
      await snapshot()
      const changes = client.iterate<Change>({ query: subscription, variables: { after: eventCursor } })
      for await (const { data, errors } of changes) {
        if (errors?.[0]) throw errors[0]
        failures = 0
        await onChange(data!)
      }
    } catch (error) {
      if (error instanceof KeyError) throw error
      reason = reasonOf(error)
    } finally {
      signal.removeEventListener('abort', leave)
      await client.dispose()
    }
    if (signal.aborted) return
    onLost(reason)
    await delay(Math.min(1_000 * 2 ** failures, pauseMaxMs), undefined, { signal }).catch(() => {})
  }
}

function connect() {
  let silence: NodeJS.Timeout | undefined
  const client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    connectionParams: { apiKey },
    // Its own way to reconnect would ask for the old position again, and gives up after some close codes.
    retryAttempts: 0,
    keepAlive: pingMs,
    on: {
      // A connection that died without a word would be waited on for ever.
      ping: (received) => {
        if (!received) silence = setTimeout(() => client.terminate(), pongWithinMs).unref()
      },
      pong: () => clearTimeout(silence),
      closed: () => clearTimeout(silence),
    },
  })
  return client
}

/** What is thrown is an error, a list of GraphQL's, or the close of a socket. */
function reasonOf(thrown: unknown): string {
  const [first] = Array.isArray(thrown) ? thrown : [thrown]
  const { message, reason, code } = (first ?? {}) as { message?: string; reason?: string; code?: number }
  return message || reason || `closed with ${code}`
}
