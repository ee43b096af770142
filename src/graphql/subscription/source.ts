import { GraphQLError } from 'graphql'
import { sees } from '../../auth/identity.ts'
import { isUuid } from '../../base/ids.ts'
import { unknownSession } from '../../base/refusal.ts'
import { sql } from '../../database/sql.ts'
import type { TimelineEvent } from '../../events/event.ts'
import { type EndReason, SubscriptionEnded } from '../../events/fanout.ts'
import type { GraphqlContext } from '../context.ts'

export interface Wanted {
  after?: bigint | null
  sessionId?: string | null
  filter: (event: TimelineEvent) => boolean
}

const endCodes: Record<EndReason, string> = {
  'too slow': 'TOO_SLOW',
  'going away': 'GOING_AWAY',
  revoked: 'UNAUTHENTICATED',
}

/**
 * The events that a subscriber gets. A key bound to a session gets those of its session, whatever it asks for. When the
 * server ends it, the transport is told why; where that cannot say so by itself, the last thing sent is an error with a code.
 */
export async function eventsFor(
  context: GraphqlContext,
  { after, sessionId, filter }: Wanted,
): Promise<AsyncIterableIterator<TimelineEvent>> {
  const { identity, services, clientLeft } = context
  if (after != null) await refuseAhead(context, after)
  const only = sessionId == null ? identity.sessionId : await visibleSession(context, sessionId)
  const events = services.fanout.subscribe({
    after,
    sessionId: only,
    credentialId: identity.id,
    filter: (event) => (only === null || event.sessionId === only) && filter(event),
  })
  // A transport may wait for the next event before it notices that its client left; this wakes it.
  const leave = () => void events.return?.()
  if (clientLeft.aborted) leave()
  clientLeft.addEventListener('abort', leave, { once: true })
  let over = false
  const end = () => {
    over = true
    clientLeft.removeEventListener('abort', leave)
    leave()
  }
  const iterator: AsyncIterableIterator<TimelineEvent> = {
    async next() {
      if (over) return { done: true, value: undefined }
      try {
        return await events.next()
      } catch (error) {
        end()
        if (!(error instanceof SubscriptionEnded)) throw error
        context.onSubscriptionEnd?.(error.reason)
        throw new GraphQLError(error.message, { extensions: { code: endCodes[error.reason] } })
      }
    },
    async return() {
      end()
      return { done: true, value: undefined }
    },
    async throw(error) {
      end()
      throw error
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return iterator
}

/**
 * Nothing would come until the timeline has grown past such a position, and what came until then would be missed in silence.
 * Another server process may have handed it out before this one's tail got there: so the database is asked.
 */
async function refuseAhead({ services }: GraphqlContext, after: bigint): Promise<void> {
  if (after <= services.position()) return
  const [row] = await services.journal.database.query<{ end: bigint | null }>(
    sql`select max(cursor) as "end" from event`,
  )
  const end = row?.end ?? 0n
  if (after <= end) return
  throw new GraphQLError(
    `The timeline ends at ${end}, before the position ${after}: the database was restored from an older copy, or the position is another server's. Read everything anew, and subscribe after eventCursor.`,
    { extensions: { code: 'CURSOR_AHEAD', eventCursor: String(end) } },
  )
}

async function visibleSession({ identity, services }: GraphqlContext, given: string): Promise<string> {
  const id = given.toLowerCase()
  const known =
    isUuid(id) &&
    sees(identity, id) &&
    (await services.journal.database.query(sql`select 1 from session where id = ${id}`)).length > 0
  if (!known) throw new GraphQLError(unknownSession().message, { extensions: { code: 'NOT_FOUND' } })
  return id
}
