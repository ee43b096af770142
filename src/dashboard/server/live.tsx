import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { createContext, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { type AnyVariables, type CombinedError, useClient } from 'urql'
import type { Feed, FeedEvent, FeedState } from './feed.ts'

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

export type Live<Data> = {
  /** The last snapshot that could be taken; kept while newer ones fail. */
  data: Data | undefined
  /** Why the newest snapshot could not be taken; null once one could. */
  failure: CombinedError | null
  /** Takes a snapshot now; settles when it is on the page. */
  refresh(): Promise<void>
}

/**
 * A query that stays true: a snapshot is taken at once, whenever the feed tells of something that concerns it, on
 * reconnect and focus, and every `everyMs` for what no event tells (who is listening). One request is under way at
 * a time; whatever happens meanwhile is covered by one more after it.
 */
export function useLive<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  options: { concerns?: (event: FeedEvent) => boolean; everyMs?: number | null } = {},
): Live<Data> {
  const client = useClient()
  const feed = useFeed()
  const key = JSON.stringify(variables)
  const [state, setState] = useState<{ key: string; data: Data | undefined; failure: CombinedError | null }>(
    () => ({
      key,
      data: client.readQuery(query, variables)?.data,
      failure: null,
    }),
  )
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
        setState((last) => ({
          key,
          data: result.data ?? (last.key === key ? last.data : undefined),
          failure: result.error ?? null,
        }))
      } while (again)
    }
    refresh.current = () => {
      again = true
      running ??= take().finally(() => {
        running = null
      })
      return running
    }
    void refresh.current()
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

  const current =
    state.key === key ? state : { data: client.readQuery(query, variables)?.data, failure: null }
  return { data: current.data, failure: current.failure, refresh: () => refresh.current() }
}
