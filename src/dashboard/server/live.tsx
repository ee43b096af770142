import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { createContext, useContext, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { type AnyVariables, type CombinedError, useClient } from 'urql'
import type { Feed, FeedEvent, FeedState } from './feed.ts'
import { shared } from './shared.ts'

const FeedContext = createContext<Feed | null>(null)
export const FeedProvider = FeedContext.Provider

function useFeed(): Feed {
  const feed = useContext(FeedContext)
  if (!feed) throw new Error('useFeed needs a FeedProvider above it')
  return feed
}

export function useFeedState(): FeedState {
  const feed = useFeed()
  return useSyncExternalStore(feed.onState, feed.state)
}

/** What the feed tells, for as long as whoever listens is on the page. */
export function useFeedEvents(listener: (event: FeedEvent | null) => void) {
  const feed = useFeed()
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => feed.onEvent((event) => latest.current(event)), [feed])
}

export type Live<Data> = {
  /** The last snapshot that could be taken; kept while newer ones fail. */
  data: Data | undefined
  /** Why the newest snapshot could not be taken; null once one could. */
  failure: CombinedError | null
  /** Takes a snapshot now; settles when it is on the page. */
  refresh(): Promise<void>
}

type State<Data> = { key: string; data: Data | undefined; failure: CombinedError | null }

/**
 * A query that stays true: a snapshot is taken at once (unless there is an `initial` one), whenever the feed tells of something that concerns it, on
 * reconnect and focus, and every `everyMs` for what no event tells (who is listening). One request is under way at
 * a time; whatever happens meanwhile is covered by one more after it.
 */
export function useLive<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  options: { concerns?: (event: FeedEvent) => boolean; everyMs?: number | null; initial?: Data } = {},
): Live<Data> {
  const client = useClient()
  const feed = useFeed()
  const key = JSON.stringify(variables)
  const [state, setState] = useState<State<Data>>(() => ({
    key,
    data: options.initial ?? client.readQuery(query, variables)?.data,
    failure: null,
  }))
  const initial = useRef(options.initial)
  const concerns = useRef(options.concerns)
  concerns.current = options.concerns
  const refresh = useRef<() => Promise<void>>(() => Promise.resolve())

  useEffect(() => {
    const wanted = JSON.parse(key) as Variables
    let stopped = false
    let running: Promise<void> | null = null
    let again = false

    async function take() {
      do {
        again = false
        const result = await client.query(query, wanted, { requestPolicy: 'network-only' }).toPromise()
        if (stopped) return
        const { data, error: failure = null } = result
        setState((last) => {
          const known = last.key === key ? last.data : undefined
          const next = { key, data: data === undefined ? known : shared(known, data), failure }
          return last.key === key && last.data === next.data && last.failure === failure ? last : next
        })
      } while (again)
    }
    refresh.current = () => {
      again = true
      running ??= take().finally(() => {
        running = null
      })
      return running
    }
    if (initial.current === undefined) void refresh.current()
    initial.current = undefined
    const stopListening = feed.onEvent((event) => {
      if (event === null || (concerns.current?.(event) ?? true)) void refresh.current()
    })
    return () => {
      stopped = true
      stopListening()
    }
  }, [client, feed, query, key])

  const { everyMs } = options
  useEffect(() => {
    if (!everyMs) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void refresh.current()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])

  const { data, failure } =
    state.key === key ? state : { data: client.readQuery(query, variables)?.data, failure: null }
  return useMemo(() => ({ data, failure, refresh: () => refresh.current() }), [data, failure])
}
