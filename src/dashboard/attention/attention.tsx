import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef } from 'react'
import {
  AttentionDocument,
  type AttentionQuery,
  type AttentionSessionFragment,
  type RequestFragment,
} from '../generated/graphql.ts'
import { notify, takeBack } from '../notify/notifications.ts'
import { type Live, useLive } from '../server/live.tsx'
import { announce } from '../shell/announcer.tsx'
import { sessionsOf, useBeyondPage } from './beyond-page.ts'

export type Attention = Live<AttentionQuery> & {
  /** Everybody in the queue who is on this page: the most urgent, and whoever came since. */
  sessions: readonly AttentionSessionFragment[]
}

const AttentionContext = createContext<Attention | null>(null)

const presenceEveryMs = 10_000

/** Who needs a person: the one query behind the list on the home page, the count in the header and in the tab. */
export function AttentionProvider({ initial, children }: { initial: AttentionQuery; children: ReactNode }) {
  const pending = useRef(false)
  const attention = useLive(
    AttentionDocument,
    {},
    { initial, everyMs: pending.current ? presenceEveryMs : null },
  )
  const beyond = useBeyondPage(attention.data)
  const value = useMemo(
    () => ({ ...attention, sessions: [...sessionsOf(attention.data), ...beyond] }),
    [attention, beyond],
  )
  const requests = useMemo(
    () => value.sessions.flatMap(({ pendingElicitations }) => pendingElicitations),
    [value],
  )
  pending.current = requests.length > 0
  useAnnouncedArrivals(requests)
  return <AttentionContext value={value}>{children}</AttentionContext>
}

export function useAttention(): Attention {
  const attention = useContext(AttentionContext)
  if (!attention) throw new Error('useAttention needs an AttentionProvider above it')
  return attention
}

function useAnnouncedArrivals(requests: readonly RequestFragment[]) {
  const known = useRef<Set<string> | null>(null)
  useEffect(() => {
    const earlier = known.current
    known.current = new Set(requests.map(({ id }) => id))
    // What was there when the page came up is read with the page.
    if (!earlier) return
    for (const request of requests) {
      if (earlier.delete(request.id)) continue
      announce(`New approval request: ${request.toolName ?? 'a question'}, ${request.session.title}.`)
      void notify(request)
    }
    for (const id of earlier) void takeBack(id)
  }, [requests])
}
