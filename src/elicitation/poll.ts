import { deliveredContentMs } from '../base/limits.ts'
import type { Recovery } from '../database/recovery.ts'
import { sql } from '../database/sql.ts'
import { isDatabaseTrouble } from '../database/trouble.ts'
import { mcpServerActor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import { probeRequestId } from '../gate/probe.ts'
import { type Elicitation, requestIdPattern } from './elicitation.ts'
import { expireDueIn } from './expire.ts'
import type { HeldPlace, HeldPolls } from './held-polls.ts'
import type { Polled, PolledReader } from './polled.ts'
import type { Presence } from './presence.ts'

/** The answer to a poll: what the request has come to. `content` is null unless it was accepted with some. */
export interface PollAnswer {
  requestId: string
  action: Elicitation['status']
  content: unknown
  note: string | null
  respondedAt: Date | null
}

export interface Poller {
  journal: Journal
  heldPolls: HeldPolls
  presence: Presence
  reader: PolledReader
  recovery: Recovery
  onDatabaseTrouble(error: unknown): void
}

export interface Poll {
  requestId: string
  /** The capability address it came in on; null on the plain one. A request is only known where it was created. */
  gateTokenId: string | null
  address: string
  waitMs: number
  /** Fires when the caller hangs up. */
  callerLeft: AbortSignal
}

/**
 * One poll of a waiting MCP server. Holds while the request is pending; a final answer that leaves here for the first time
 * is recorded as delivered *before* it is sent, so that it can never be replayed for a new action.
 *
 * While the database cannot be asked, every well-formed poll is `pending`: anything else would end the agent's wait.
 * @returns null when the request id is unknown at that address.
 */
export async function poll(poller: Poller, request: Poll): Promise<PollAnswer | null> {
  const { requestId, gateTokenId, callerLeft } = request
  if (!requestIdPattern.test(requestId) || requestId === probeRequestId) return null
  const answer = await throughTrouble(poller, request, async (place, waitMs) => {
    const first = await poller.reader.read(requestId)
    if (!first || first.gateTokenId !== gateTokenId) return null
    const current =
      first.status === 'pending' ? await untilResolved(poller, first, place, { ...request, waitMs }) : first
    return current.status === 'pending'
      ? answerOf(current, poller.journal.now())
      : await carryAway(poller, current, callerLeft)
  })
  return answer === 'trouble' ? stillPending(requestId) : answer
}

/** What a poll is told that nothing could be found out for. */
export function stillPending(requestId: string): PollAnswer {
  return { requestId, action: 'pending', content: null, note: null, respondedAt: null }
}

/**
 * Does a part of a poll's work, and again once the database is back from an outage, for as long as the poll may be held: an
 * outage of a moment then costs the agent nothing. `trouble` when it was longer than that.
 */
export async function throughTrouble<T>(
  { heldPolls, recovery, onDatabaseTrouble }: Poller,
  { requestId, address, waitMs, callerLeft }: Omit<Poll, 'gateTokenId'>,
  work: (place: HeldPlace | null, waitMs: number) => Promise<T>,
): Promise<T | 'trouble'> {
  const place = waitMs > 0 ? heldPolls.place(requestId, address) : null
  const until = performance.now() + waitMs
  const leftMs = () => Math.max(0, until - performance.now())
  try {
    for (;;) {
      try {
        return await work(place, leftMs())
      } catch (error) {
        onDatabaseTrouble(error)
        if (!place || !isDatabaseTrouble(error)) return 'trouble'
        const back = new AbortController()
        recovery.answers().then(() => back.abort())
        const end = await place.hold(leftMs(), AbortSignal.any([callerLeft, back.signal]))
        if (!back.signal.aborted && end !== 'resolved') return 'trouble'
      }
    }
  } finally {
    place?.leave()
  }
}

/** Waits as long as the caller, the hold and the deadline allow; still pending means that nothing happened. */
async function untilResolved(
  { journal, presence, reader }: Poller,
  first: Polled,
  place: HeldPlace | null,
  { waitMs, callerLeft }: Poll,
): Promise<Polled> {
  const untilDeadlineMs = () => first.expiresAt.getTime() - journal.now().getTime()
  const again = async () => (await reader.read(first.requestId)) ?? first
  if (place) {
    presence.opened(first.id)
    try {
      const end = await place.hold(Math.min(waitMs, untilDeadlineMs() + 1), callerLeft)
      if (end === 'resolved') return await again()
    } finally {
      presence.closed(first.id)
    }
  } else presence.seen(first.id)
  if (untilDeadlineMs() > 0) return first
  await expireDueIn(journal, first.sessionId)
  return again()
}

async function carryAway({ journal }: Poller, polled: Polled, callerLeft: AbortSignal): Promise<PollAnswer> {
  const now = journal.now()
  const afterMs = polled.respondedAt === null ? null : now.getTime() - polled.respondedAt.getTime()
  if (polled.deliveredAt === null && !callerLeft.aborted)
    await journal.write(async (entry) => {
      const first = await entry.query(sql`
        select id from elicitation where id = ${polled.id} and delivered_at is null and status <> 'pending'
        for no key update`)
      if (first.length === 0) return
      // Goes out with the commit.
      void entry.query(sql`
        update elicitation set delivered_at = ${now}, last_polled_at = greatest(last_polled_at, ${now})
        where id = ${polled.id}`)
      entry.append({
        type: 'elicitation.delivered',
        sessionId: polled.sessionId,
        elicitationId: polled.id,
        actor: mcpServerActor(polled.serverName),
        data: { requestId: polled.requestId, status: polled.status, afterMs },
        at: now,
      })
    })
  return answerOf(polled, now)
}

function answerOf(polled: Polled, now: Date): PollAnswer {
  const { requestId, status, note, respondedAt, deliveredAt } = polled
  const forgotten = deliveredAt !== null && now.getTime() - deliveredAt.getTime() > deliveredContentMs
  return {
    requestId,
    action: status,
    content: status === 'accept' && !forgotten ? (polled.content ?? null) : null,
    note,
    respondedAt,
  }
}
