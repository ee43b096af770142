import { useCallback, useEffect, useRef, useState } from 'react'
import { useClient } from 'urql'
import {
  type AttentionQuery,
  type AttentionSessionFragment,
  OfAttentionDocument,
} from '../generated/graphql.ts'
import { useFeedEvents } from '../server/live.tsx'
import { shared } from '../server/shared.ts'

type Sessions = readonly AttentionSessionFragment[]

/** As in the query of the queue. */
const pageSize = 50
/** What comes beyond as many is counted, and shown as others go. */
const beyondMax = 150
const presenceEveryMs = 30_000

/**
 * The sessions of a long queue that the page of it leaves out: those that came while this page was open, and those that more
 * urgent ones have pushed off it. None that is shown goes for want of room, and none that comes stays unseen. Each is asked
 * for by itself, when something happens to it.
 */
export function useBeyondPage(data: AttentionQuery | undefined): Sessions {
  const client = useClient()
  const [state, setState] = useState({ data, beyond: [] as Sessions })
  let { beyond } = state
  if (data !== state.data) {
    beyond = leftOut(data, [...sessionsOf(state.data), ...beyond])
    setState({ data, beyond })
  }
  const latest = useRef({ data, beyond })
  latest.current = { data, beyond }
  const looking = useRef(new Map<string, { again: boolean }>())

  const look = useCallback(
    async (id: string) => {
      const underWay = looking.current.get(id)
      if (underWay) {
        // What happened since may not be in the answer that is on its way.
        underWay.again = true
        return
      }
      const turn = { again: false }
      looking.current.set(id, turn)
      do {
        turn.again = false
        const options = { requestPolicy: 'network-only' } as const
        const { data: found } = await client.query(OfAttentionDocument, { id }, options).toPromise()
        if (found)
          setState((last) => ({
            ...last,
            beyond: leftOut(last.data, updated(last.beyond, id, found.session)),
          }))
      } while (turn.again)
      looking.current.delete(id)
    },
    [client],
  )
  const lookAtAll = useCallback(async () => {
    for (const { id } of latest.current.beyond) await look(id)
  }, [look])

  useFeedEvents((event) => {
    if (event === null) void lookAtAll()
    else if (event.session && mayBeBeyond(latest.current.data, event.session.id)) void look(event.session.id)
  })

  // Whoever has just left the page may have left the queue.
  const known = useRef<ReadonlySet<string>>(new Set())
  useEffect(() => {
    const earlier = known.current
    known.current = new Set(beyond.map(({ id }) => id))
    for (const id of known.current) if (!earlier.has(id)) void look(id)
  }, [beyond, look])

  const some = beyond.length > 0
  useEffect(() => {
    if (!some) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void lookAtAll()
    }, presenceEveryMs)
    return () => clearInterval(timer)
  }, [some, lookAtAll])

  return beyond
}

export function sessionsOf(data: AttentionQuery | undefined): Sessions {
  return data?.attentionQueue.edges.map(({ node }) => node) ?? []
}

/** A page with room left holds the whole queue; a full one may have left somebody out whom its total does not count yet. */
function isWhole(data: AttentionQuery | undefined): boolean {
  return !data || data.attentionQueue.edges.length < pageSize
}

function isOnPage(data: AttentionQuery | undefined, id: string): boolean {
  return data?.attentionQueue.edges.some(({ node }) => node.id === id) ?? false
}

function mayBeBeyond(data: AttentionQuery | undefined, id: string): boolean {
  return !isWhole(data) && !isOnPage(data, id)
}

function leftOut(data: AttentionQuery | undefined, sessions: Sessions): Sessions {
  return isWhole(data) ? [] : sessions.filter(({ id }) => !isOnPage(data, id)).slice(0, beyondMax)
}

function updated(sessions: Sessions, id: string, now: AttentionSessionFragment | null): Sessions {
  const before = sessions.find((session) => session.id === id)
  if (!now || !needsSomebody(now)) return before ? sessions.filter((session) => session !== before) : sessions
  return before
    ? sessions.map((session) => (session === before ? shared(before, now) : session))
    : [...sessions, now]
}

/** As the server's queue has it. */
function needsSomebody({ status, pendingElicitations }: AttentionSessionFragment): boolean {
  return status === 'NEEDS_INPUT' || (status !== 'ARCHIVED' && pendingElicitations.length > 0)
}
