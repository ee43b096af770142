import type { Queryable } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { TimelineEvent } from './event.ts'

/** Events that a subscriber may lag behind before it is cut off. */
export const subscriberLagMax = 1_000
const replayPageSize = 200

export type EndReason = 'too slow' | 'going away' | 'revoked'

/** Thrown into a subscriber's iteration when the server ends it. */
export class SubscriptionEnded extends Error {
  readonly reason: EndReason

  constructor(reason: EndReason) {
    super(
      {
        'too slow':
          'This subscriber does not keep up. Connect again with `after` set to the last cursor that you saw.',
        'going away':
          'The server is going away. Connect again with `after` set to the last cursor that you saw.',
        revoked: 'The key behind this subscription is no longer valid. Sign in again.',
      }[reason],
    )
    this.reason = reason
  }
}

export interface SubscribeOptions {
  /** Replays what was committed after this cursor, then goes live. Without it: live from the present on. */
  after?: bigint | null
  filter: (event: TimelineEvent) => boolean
  /** Narrows a replay to one session. */
  sessionId?: string | null
  /** Whose credential it hangs on; `endSubscriptionsOf` ends it. */
  credentialId?: string | null
}

interface Subscriber extends Required<Pick<SubscribeOptions, 'filter'>> {
  credentialId: string | null
  push(event: TimelineEvent): void
  end(reason: EndReason): void
}

/** Hands the events of this process's tail to any number of subscribers. */
export interface Fanout {
  readonly size: number
  publish(event: TimelineEvent): void
  subscribe(options: SubscribeOptions): AsyncIterableIterator<TimelineEvent>
  endSubscriptionsOf(credentialId: string): void
  endAll(reason: EndReason): void
}

export function createFanout(database: Queryable, position: () => bigint): Fanout {
  const subscribers = new Set<Subscriber>()

  return {
    get size() {
      return subscribers.size
    },
    publish(event) {
      for (const subscriber of subscribers) if (subscriber.filter(event)) subscriber.push(event)
    },
    subscribe: ({ after, filter, sessionId = null, credentialId = null }) => {
      const queue: TimelineEvent[] = []
      let wake: (() => void) | null = null
      let ended: EndReason | 'left' | null = null
      // While replaying, events of the present are left in the database; the last page attaches.
      let replayFrom: bigint | null = after ?? null
      const subscriber: Subscriber = {
        filter,
        credentialId,
        push(event) {
          // A cursor from another server may be ahead of this one's tail.
          if (replayFrom !== null || (after != null && event.cursor <= after)) return
          if (queue.length >= subscriberLagMax) return this.end('too slow')
          queue.push(event)
          wake?.()
        },
        end(reason) {
          subscribers.delete(subscriber)
          ended ??= reason
          wake?.()
        },
      }
      subscribers.add(subscriber)

      async function replay(from: bigint): Promise<void> {
        const through = position()
        const rows = await replayPage(database, from, through, sessionId)
        queue.push(...rows.filter(filter))
        if (rows.length === replayPageSize) replayFrom = rows.at(-1)!.cursor
        // Nothing was published between `through` and now, or it is still to be read.
        else replayFrom = position() === through ? null : through > from ? through : from
      }

      async function next(): Promise<IteratorResult<TimelineEvent>> {
        for (;;) {
          if (ended && ended !== 'left' && ended !== 'going away') throw new SubscriptionEnded(ended)
          const event = queue.shift()
          if (event) return { done: false, value: event }
          if (ended === 'going away') throw new SubscriptionEnded(ended)
          if (ended) return { done: true, value: undefined }
          if (replayFrom !== null) {
            try {
              await replay(replayFrom)
            } catch (error) {
              subscribers.delete(subscriber)
              throw error
            }
            continue
          }
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          wake = null
        }
      }

      return {
        next,
        async return() {
          subscribers.delete(subscriber)
          ended ??= 'left'
          queue.length = 0
          wake?.()
          return { done: true, value: undefined }
        },
        async throw(error) {
          subscribers.delete(subscriber)
          ended ??= 'left'
          wake?.()
          throw error
        },
        [Symbol.asyncIterator]() {
          return this
        },
      }
    },
    endSubscriptionsOf(credentialId) {
      for (const subscriber of [...subscribers])
        if (subscriber.credentialId === credentialId) subscriber.end('revoked')
    },
    endAll(reason) {
      for (const subscriber of [...subscribers]) subscriber.end(reason)
    },
  }
}

function replayPage(
  database: Queryable,
  from: bigint,
  through: bigint,
  sessionId: string | null,
): Promise<TimelineEvent[]> {
  return sessionId === null
    ? database.query<TimelineEvent>(sql`
        select cursor, type, session_id, elicitation_id, actor_kind, actor_name, actor_role, data, attention, at
        from event where cursor > ${from} and cursor <= ${through} order by cursor limit ${replayPageSize}`)
    : database.query<TimelineEvent>(sql`
        select cursor, type, session_id, elicitation_id, actor_kind, actor_name, actor_role, data, attention, at
        from event where session_id = ${sessionId} and cursor > ${from} and cursor <= ${through}
        order by cursor limit ${replayPageSize}`)
}
