import type { Queryable } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { EventType, TimelineEvent } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import { noticedEvents, noticeOf } from './notice.ts'
import { type NewNotification, putOut, takeBackPending } from './outbox.ts'
import { endSubscriptionsOfKeys, listSubscriptions } from './push-subscription.ts'

const reader = 'notifications'
const pageSize = 200
const readEvents: EventType[] = [...noticedEvents, 'key.revoked']

/** What is read of an event. */
type ReadEvent = Pick<TimelineEvent, 'cursor' | 'type' | 'sessionId' | 'elicitationId' | 'data' | 'at'>

export interface Walk {
  journal: Journal
  /** Up to where the timeline is settled: no event at or before it appears any more. */
  position: () => bigint
  /** Whether this installation has a webhook; servers of one database are configured alike. */
  hasWebhook: boolean
}

/** Whether an event is worth a walk. */
export function isWorthAWalk({ type }: TimelineEvent): boolean {
  return readEvents.includes(type)
}

/** Notices begin here on an installation that has never given any: the past is not told. */
export async function beginWalk(on: Queryable, position: bigint): Promise<void> {
  await on.query(sql`
    insert into timeline_reader (name, cursor) values (${reader}, ${position}) on conflict (name) do nothing`)
}

/**
 * Reads on in the timeline from where any server last came to, and writes down who is to be told of what. Reading and
 * writing are one commit under the reader's lock: of any number of servers one takes each event, and a crash loses none.
 */
export async function walkTimeline(walk: Walk): Promise<void> {
  for (let more = true; more; ) more = await walkPage(walk)
}

/** @returns whether there is another page. */
async function walkPage({ journal, position, hasWebhook }: Walk): Promise<boolean> {
  const through = position()
  return journal.write(async (entry) => {
    const [at] = await entry.query<{ cursor: bigint }>(
      sql`select cursor from timeline_reader where name = ${reader} for update`,
    )
    if (!at) throw new Error('The reader of the timeline was not set up before its first walk.')
    // Another server's tail may be ahead of this one's.
    if (at.cursor >= through) return false
    const events = await entry.query<ReadEvent>(sql`
      select cursor, type, session_id, elicitation_id, data, at from event
      where cursor > ${at.cursor} and cursor <= ${through} and type = any(${readEvents}::text[])
      order by cursor limit ${pageSize}`)
    const more = events.length === pageSize
    await tell(entry, events, hasWebhook, journal.now())
    await entry.query(sql`
      update timeline_reader set cursor = ${more ? events.at(-1)!.cursor : through} where name = ${reader}`)
    return more
  })
}

async function tell(entry: Queryable, events: ReadEvent[], hasWebhook: boolean, now: Date): Promise<void> {
  await endSubscriptionsOfKeys(
    entry,
    events.filter(({ type }) => type === 'key.revoked').map(({ data }) => String(data.keyId)),
  )
  const noticed = events.flatMap((event) => {
    const notice = noticeOf(event)
    return notice ? [{ event, notice }] : []
  })
  if (noticed.length === 0) return
  const ended = noticed.filter(({ notice }) => notice.type === 'elicitation.resolved')
  await takeBackPending(
    entry,
    ended.map(({ notice }) => notice.subject),
    now,
  )

  const browsers = (await listSubscriptions(entry, now)).map(({ id }) => id)
  const targets = { webhook: hasWebhook ? ['webhook'] : [], push: browsers }
  await putOut(
    entry,
    noticed.flatMap(({ event, notice: { type, subject, channels, dueAt } }) =>
      channels.flatMap((channel) =>
        targets[channel].map(
          (target): NewNotification => ({
            eventCursor: event.cursor,
            type,
            channel,
            target,
            subject,
            sessionId: event.sessionId,
            elicitationId: event.elicitationId,
            dueAt,
          }),
        ),
      ),
    ),
    now,
  )
}
