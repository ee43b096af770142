import { isUuid, newId } from '../base/ids.ts'
import { InvalidTransitionError, NotFoundError, type Refusal } from '../base/refusal.ts'
import type { Queryable } from '../database/database.ts'
import type { Notification as NotificationRow } from '../database/generated/prisma/client.ts'
import type { NotificationState } from '../database/generated/prisma/enums.ts'
import { sql } from '../database/sql.ts'
import { type EventType, systemActor } from '../events/event.ts'
import type { Journal, JournalEntry } from '../events/journal.ts'
import type { Channel, NoticeType } from './notice.ts'

export type { NotificationState }

export type Notification = NotificationRow & { type: NoticeType; channel: Channel }

/** Some five and a half hours of trying, the last four of them once an hour. */
export const attemptsMax = 15
const firstRetryMs = 5_000
const retryMaxMs = 60 * 60_000
/** Longer than any attempt takes: what is in flight for longer was in the hands of a server that died. */
const inFlightMs = 30_000

const day = 24 * 60 * 60_000
/** Longer than a request can be pending, as its end is only told to those who were told of its beginning. */
const settledKeptMs = 8 * day
const anyKeptMs = 30 * day

export interface NewNotification {
  eventCursor: bigint
  type: NoticeType
  channel: Channel
  target: string
  subject: string
  sessionId: string | null
  elicitationId: string | null
  dueAt: Date
}

/** How long after the failure of its nth attempt a notification is tried again. */
export function retryDelayMs(attempts: number): number {
  return Math.min(firstRetryMs * 2 ** (attempts - 1), retryMaxMs)
}

/** Writes notifications down, once for each event and receiver. */
export async function putOut(entry: Queryable, notifications: NewNotification[], now: Date): Promise<void> {
  if (notifications.length === 0) return
  await entry.query(sql`
    insert into notification (id, event_cursor, type, channel, target, subject, session_id, elicitation_id, due_at, created_at)
    select n.*, ${now}::timestamptz from unnest(
      ${notifications.map(newId)}::uuid[],
      ${notifications.map((n) => n.eventCursor)}::bigint[],
      ${notifications.map((n) => n.type)}::text[],
      ${notifications.map((n) => n.channel)}::text[],
      ${notifications.map((n) => n.target)}::text[],
      ${notifications.map((n) => n.subject)}::text[],
      ${notifications.map((n) => n.sessionId)}::uuid[],
      ${notifications.map((n) => n.elicitationId)}::uuid[],
      ${notifications.map((n) => n.dueAt)}::timestamptz[]
    ) as n
    on conflict (event_cursor, target) do nothing`)
}

/**
 * Nobody is told any more that these requests wait. What is in flight is left to whoever is sending it; `failed` drops it
 * if it has to be tried again.
 */
export async function takeBackPending(entry: Queryable, elicitationIds: string[], now: Date): Promise<void> {
  if (elicitationIds.length === 0) return
  await entry.query(sql`
    update notification set state = 'dropped', settled_at = ${now}
    where subject = any(${elicitationIds}::text[]) and type = 'elicitation.pending' and state = 'waiting'
      and (in_flight_until is null or in_flight_until <= ${now})`)
}

/**
 * Takes up to `max` notifications that are due, for this server alone to send. The end of a request waits until the
 * attempt to tell of its beginning is over: overtaken by it, a phone would show a request that is long answered.
 */
export async function claimDue(journal: Journal, channel: Channel, max: number): Promise<Notification[]> {
  const now = journal.now()
  return journal.database.query<Notification>(sql`
    with due as materialized (
      select id from notification n
      where channel = ${channel} and state = 'waiting' and due_at <= ${now}
        and (in_flight_until is null or in_flight_until <= ${now})
        and not (type = 'elicitation.resolved' and exists (
          select 1 from notification earlier
          where earlier.subject = n.subject and earlier.target = n.target and earlier.state = 'waiting'
            and earlier.event_cursor < n.event_cursor))
      order by due_at, event_cursor limit ${max} for update skip locked)
    update notification set attempts = attempts + 1, in_flight_until = ${new Date(now.getTime() + inFlightMs)}
    from due where notification.id = due.id
    returning notification.*`)
}

/** When something is due next, or null. */
export async function nextDue(on: Queryable): Promise<Date | null> {
  const [row] = await on.query<{ next: Date | null }>(sql`
    select min(greatest(due_at, in_flight_until)) as next from notification where state = 'waiting'`)
  return row?.next ?? null
}

/** It was sent. The timeline says so once for each event and channel, and not of ends, which it tells by itself. */
export async function sent(journal: Journal, notification: Notification): Promise<void> {
  const now = journal.now()
  await journal.write(async (entry) => {
    const isFirst = await isFirstOfItsKind(entry, notification, 'sent')
    const isSettled = await settle(entry, notification, 'sent', null, now)
    if (isSettled && isFirst && notification.type !== 'elicitation.resolved')
      record(entry, notification, 'notification.sent', {}, now)
  })
}

/** There is no more reason to send it. */
export async function dropped(journal: Journal, notification: Notification): Promise<void> {
  await settle(journal.database, notification, 'dropped', notification.lastError, journal.now())
}

/**
 * An attempt failed: it is tried again later, or given up, where an operator finds it and may send it again. What tells of
 * a request that has ended meanwhile is dropped, so that its end can be told.
 */
export async function failed(
  journal: Journal,
  notification: Notification,
  detail: string,
): Promise<NotificationState> {
  const now = journal.now()
  const { id, attempts, target, subject, eventCursor, type } = notification
  return journal.write(async (entry) => {
    const retryAt = new Date(now.getTime() + retryDelayMs(attempts))
    const [isOver] = await entry.query(sql`
      select 1 from notification where ${type} = 'elicitation.pending' and subject = ${subject} and target = ${target}
        and type = 'elicitation.resolved' and event_cursor > ${eventCursor} and state = 'waiting'`)
    const state = isOver ? 'dropped' : attempts >= attemptsMax ? 'dead' : 'waiting'
    if (state !== 'waiting') {
      const isFirst = await isFirstOfItsKind(entry, notification, 'dead')
      const isSettled = await settle(entry, notification, state, detail, now)
      if (isSettled && isFirst && state === 'dead')
        record(entry, notification, 'notification.failed', { attempts, error: detail }, now)
    } else
      await entry.query(sql`
        update notification set last_error = ${detail}, due_at = ${retryAt}, in_flight_until = null
        where id = ${id} and state = 'waiting' and attempts = ${attempts}`)
    return state
  })
}

/** The latest first. */
export function listNotifications(
  on: Queryable,
  { state, first, before }: { state: NotificationState; first: number; before: string | null },
): Promise<Notification[]> {
  return on.query<Notification>(sql`
    select * from notification where state = ${state} and (${before}::uuid is null or id < ${before}::uuid)
    order by id desc limit ${first}`)
}

/** Sends a given-up notification again, as one that is new: with all its attempts. It keeps its id, by which receivers know it. */
export async function resend(journal: Journal, id: string): Promise<Notification | Refusal> {
  const unknown = new NotFoundError('There is no such notification. List the dead ones to see their ids.')
  if (!isUuid(id)) return unknown
  const { database } = journal
  const [again] = await database.query<Notification>(sql`
    update notification set state = 'waiting', attempts = 0, due_at = ${journal.now()}, settled_at = null
    where id = ${id} and state = 'dead' returning *`)
  if (again) return again
  const [row] = await database.query<Notification>(sql`select * from notification where id = ${id}`)
  if (!row) return unknown
  return new InvalidTransitionError(
    row.state,
    'resend',
    row.state === 'waiting'
      ? 'This notification is not given up: it is tried again by itself.'
      : `This notification was ${row.state}; only a dead one can be sent again.`,
  )
}

/** Removes what nobody asks for any more. */
export async function pruneNotifications(on: Queryable, now: Date): Promise<void> {
  await on.query(sql`
    delete from notification where
      (state in ('sent', 'dropped') and settled_at < ${new Date(now.getTime() - settledKeptMs)})
      or created_at < ${new Date(now.getTime() - anyKeptMs)}`)
}

/** Whether an attempt to tell this receiver that the request waits may have reached it. */
export async function wasToldOf(
  on: Queryable,
  { subject, target, eventCursor }: Notification,
): Promise<boolean> {
  const rows = await on.query(sql`
    select 1 from notification where subject = ${subject} and target = ${target} and event_cursor < ${eventCursor}
      and type = 'elicitation.pending' and (state = 'sent' or last_error is not null)`)
  return rows.length > 0
}

/** Locks what the same event sent through the same channel, so that of two that end at once one is the first. */
async function isFirstOfItsKind(
  entry: Queryable,
  { id, eventCursor, channel }: Notification,
  state: NotificationState,
): Promise<boolean> {
  const rows = await entry.query<Pick<Notification, 'id' | 'state'>>(sql`
    select id, state from notification where event_cursor = ${eventCursor} and channel = ${channel}
    order by id for update`)
  return rows.every((row) => row.id === id || row.state !== state)
}

/** @returns false when it is in somebody else's hands by now. */
async function settle(
  on: Queryable,
  { id, attempts }: Notification,
  state: NotificationState,
  lastError: string | null,
  now: Date,
): Promise<boolean> {
  const rows = await on.query(sql`
    update notification set state = ${state}, last_error = ${lastError}, settled_at = ${now}, in_flight_until = null
    where id = ${id} and state = 'waiting' and attempts = ${attempts} returning id`)
  return rows.length > 0
}

function record(
  entry: JournalEntry,
  { id, type, channel, sessionId, elicitationId }: Notification,
  event: Extract<EventType, 'notification.sent' | 'notification.failed'>,
  more: Record<string, unknown>,
  at: Date,
): void {
  const data = { channel, type, notificationId: id, ...more }
  entry.append({ type: event, sessionId, elicitationId, actor: systemActor, data, at })
}
