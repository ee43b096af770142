import { stringifyDocument } from '@urql/core'
import { createClient } from 'graphql-ws'
import type { Client } from 'urql'
import { EventCursorDocument, FeedDocument, type FeedSubscription } from '../generated/graphql.ts'

export type FeedEvent = FeedSubscription['timeline']

/** `connecting` until the first connection, `reconnecting` after one was lost. */
export type FeedState = 'connecting' | 'live' | 'reconnecting'

/**
 * The one live connection of the page. It says that something happened, never what is true now: whoever listens takes a
 * snapshot, so that lists, badges and counts always come from one query and a lost message cannot leave them wrong.
 */
export type Feed = {
  state(): FeedState
  onState(listener: () => void): () => void
  /** Called with each event, and with null when anything may have been missed: after reconnecting, on focus. */
  onEvent(listener: (event: FeedEvent | null) => void): () => void
  start(): () => void
}

/** The server's close codes for "not signed in" and "may not". */
const signedOutCodes = [4401, 4403]

const retryMinMs = 250
const retryMaxMs = 5_000

export function createFeed(options: {
  client: Client
  onSignedOut: () => void
  /** Where to begin: no later than any snapshot that is on the page. */
  after: string
}): Feed {
  const { client, onSignedOut } = options
  const stateListeners = new Set<() => void>()
  const eventListeners = new Set<(event: FeedEvent | null) => void>()
  let state: FeedState = 'connecting'
  let cursor: string | null = options.after
  let wake = () => {}

  function become(next: FeedState) {
    if (next === state) return
    state = next
    for (const listener of stateListeners) listener()
  }

  function tell(event: FeedEvent | null) {
    for (const listener of eventListeners) listener(event)
  }

  async function follow(stopped: AbortSignal, onLive: () => void) {
    if (cursor === null) {
      const position = await client
        .query(EventCursorDocument, {}, { requestPolicy: 'network-only' })
        .toPromise()
      if (!position.data) throw position.error
      cursor = position.data.eventCursor
    }
    const socket = createClient({
      url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`,
      retryAttempts: 0,
      connectionAckWaitTimeout: 10_000,
      // A phone that changed networks keeps a dead socket open for minutes; a ping without a pong ends it.
      keepAlive: 10_000,
      on: {
        connected: () => {
          onLive()
          const again = state === 'reconnecting'
          become('live')
          // The first connection is told everything since the page's first snapshot.
          if (again) tell(null)
        },
        ping: (received) => {
          if (!received) expectPong()
        },
        pong: (received) => {
          if (received) clearTimeout(pongTimer)
        },
      },
    })
    let pongTimer: ReturnType<typeof setTimeout> | undefined
    function expectPong() {
      clearTimeout(pongTimer)
      pongTimer = setTimeout(() => socket.terminate(), 5_000)
    }
    const stop = () => void socket.dispose()
    stopped.addEventListener('abort', stop)
    try {
      const query = stringifyDocument(FeedDocument)
      for await (const { data, errors } of socket.iterate<FeedSubscription>({
        query,
        variables: { after: cursor },
      })) {
        // A cursor that the server does not know (another database) would be refused for ever.
        if (errors) cursor = null
        if (!data) break
        cursor = data.timeline.cursor
        tell(data.timeline)
      }
    } finally {
      clearTimeout(pongTimer)
      stopped.removeEventListener('abort', stop)
      void socket.dispose()
    }
  }

  async function run(stopped: AbortSignal) {
    let waitMs = retryMinMs
    while (!stopped.aborted) {
      try {
        await follow(stopped, () => {
          waitMs = retryMinMs
        })
      } catch (ended) {
        // Why a connection ended makes no difference to what to do, but for this one reason.
        if (ended instanceof CloseEvent && signedOutCodes.includes(ended.code)) onSignedOut()
      }
      if (stopped.aborted) return
      become('reconnecting')
      const pause = waitMs * (0.5 + Math.random() / 2)
      waitMs = Math.min(waitMs * 2, retryMaxMs)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
        stopped.addEventListener('abort', wake, { once: true })
      })
    }
  }

  return {
    state: () => state,
    onState(listener) {
      stateListeners.add(listener)
      return () => stateListeners.delete(listener)
    },
    onEvent(listener) {
      eventListeners.add(listener)
      return () => eventListeners.delete(listener)
    },
    start() {
      const stop = new AbortController()
      const look = () => {
        if (document.visibilityState !== 'visible') return
        wake()
        tell(null)
      }
      window.addEventListener('online', look)
      window.addEventListener('focus', look)
      document.addEventListener('visibilitychange', look)
      void run(stop.signal)
      return () => {
        stop.abort()
        window.removeEventListener('online', look)
        window.removeEventListener('focus', look)
        document.removeEventListener('visibilitychange', look)
      }
    },
  }
}
