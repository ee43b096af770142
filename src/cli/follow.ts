import type { GraphQLFormattedError } from 'graphql'
import { type Client, createClient } from 'graphql-ws'
import { backOff } from '../runner/backoff.ts'
import type { Connection } from './connection.ts'

export interface Following<Data> {
  /** A subscription that takes `$after: EventCursor`. */
  document: string
  variables?: Record<string, unknown>
  /** Where to begin; what came later than this is replayed. */
  after: string
  cursorOf: (data: Data) => string
  onData: (data: Data) => void
  /** Told once each time the connection is lost, and when it is there again. */
  onLost?: (reason: string) => void
  onFound?: () => void
  /** What to throw where trying again is of no use: by close code, or by the code of an error. Without it, go on for ever. */
  hopeless?: (code: number | string) => Error | null
  signal: AbortSignal
}

/** Why a connection came to nothing. */
interface Loss {
  code: number | string | null
  reason: string
  /** Where the timeline ends, when it ends before the position that was asked for. */
  end?: string
}

const pingMs = 10_000
const pongWithinMs = 5_000

/**
 * Follows a subscription for as long as the signal lasts: a lost connection is made again, for ever, and goes on behind the
 * last event that was handed out. The client's own reconnecting is not used: it would ask for the old position again, and
 * some close codes make it give up. Where the timeline has become shorter (an older copy of the database was restored) it goes
 * on from the end.
 */
export async function follow<Data>(connection: Connection, following: Following<Data>): Promise<void> {
  const { document, variables, cursorOf, onData, onLost, onFound, hopeless, signal } = following
  let { after } = following
  let failures = 0
  let lost = false

  while (!signal.aborted) {
    const client = connect(connection, () => {
      if (lost) onFound?.()
      lost = false
    })
    const leave = () => void client.dispose()
    signal.addEventListener('abort', leave, { once: true })
    const results = client.iterate<Data>({ query: document, variables: { ...variables, after } })
    let loss: Loss | null = null
    while (loss === null) {
      const step = await results.next().catch(lossOf)
      if ('reason' in step) loss = step
      else if (step.done) loss = { code: null, reason: 'the server ended it' }
      else if (step.value.errors?.length) loss = errorLoss(step.value.errors)
      else if (step.value.data) {
        failures = 0
        after = cursorOf(step.value.data)
        onData(step.value.data)
      }
    }
    signal.removeEventListener('abort', leave)
    await client.dispose()
    if (signal.aborted) return
    if (loss.end !== undefined) after = loss.end
    const fatal = loss.code === null ? null : hopeless?.(loss.code)
    if (fatal) throw fatal
    if (!lost) onLost?.(loss.reason)
    lost = true
    failures++
    await backOff(failures, signal)
  }
}

function connect({ url, apiKey }: Connection, onConnected: () => void): Client {
  let pong: NodeJS.Timeout | undefined
  const client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    connectionParams: { apiKey },
    retryAttempts: 0,
    keepAlive: pingMs,
    on: {
      connected: onConnected,
      // A connection that died without a word would otherwise be waited on for hours.
      ping(received) {
        if (!received) pong = setTimeout(() => client.terminate(), pongWithinMs).unref()
      },
      pong(received) {
        if (received) clearTimeout(pong)
      },
      closed: () => clearTimeout(pong),
    },
  })
  return client
}

/** The client throws a close event, an error of the socket, or the errors with which a subscription was refused. */
function lossOf(thrown: unknown): Loss {
  if (Array.isArray(thrown)) return errorLoss(thrown)
  if (typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'number') {
    const said = 'reason' in thrown && thrown.reason ? String(thrown.reason) : `closed with ${thrown.code}`
    return { code: thrown.code, reason: thrown.code === 1006 ? 'the connection was cut' : said }
  }
  return { code: null, reason: thrown instanceof Error ? thrown.message : 'no connection could be made' }
}

function errorLoss(errors: readonly GraphQLFormattedError[]): Loss {
  const [error] = errors
  const { code, eventCursor } = error?.extensions ?? {}
  return {
    code: String(code ?? ''),
    reason: error?.message ?? 'the server refused',
    ...(code === 'CURSOR_AHEAD' && typeof eventCursor === 'string' ? { end: eventCursor } : {}),
  }
}
