import { deliveredContentMs } from '../base/limits.ts'
import { sql } from '../database/sql.ts'
import { mcpServerActor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import type { Elicitation } from './elicitation.ts'
import { probeRequestId, requestIdPattern } from './elicitation.ts'
import { expireDueIn } from './expire.ts'
import type { HeldPlace, HeldPolls } from './held-polls.ts'
import type { Presence } from './presence.ts'

type Polled = Pick<
  Elicitation,
  | 'id'
  | 'requestId'
  | 'sessionId'
  | 'status'
  | 'content'
  | 'note'
  | 'expiresAt'
  | 'respondedAt'
  | 'deliveredAt'
  | 'serverName'
  | 'cause'
> & { gateSessionId: string | null }

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
  onDatabaseTrouble(error: unknown): void
}

export interface Poll {
  requestId: string
  /** The session of the capability address it came in on; null on the plain address. */
  gateSessionId: string | null
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
  const { requestId, gateSessionId, address, waitMs, callerLeft } = request
  if (!requestIdPattern.test(requestId) || requestId === probeRequestId) return null
  const place = waitMs > 0 ? poller.heldPolls.place(requestId, address) : null
  try {
    const first = await read(poller.journal, requestId)
    if (!first || first.gateSessionId !== gateSessionId) return null
    const current = first.status === 'pending' ? await untilResolved(poller, first, place, request) : first
    return current.status === 'pending'
      ? answerOf(current, poller.journal.now())
      : await carryAway(poller, current, callerLeft)
  } catch (error) {
    poller.onDatabaseTrouble(error)
    return { requestId, action: 'pending', content: null, note: null, respondedAt: null }
  } finally {
    place?.leave()
  }
}

/** Waits as long as the caller, the hold and the deadline allow; still pending means that nothing happened. */
async function untilResolved(
  { journal, presence }: Poller,
  first: Polled,
  place: HeldPlace | null,
  { waitMs, callerLeft }: Poll,
): Promise<Polled> {
  const untilDeadlineMs = () => first.expiresAt.getTime() - journal.now().getTime()
  const again = async () => (await read(journal, first.requestId)) ?? first
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
  if (polled.deliveredAt === null && !callerLeft.aborted)
    await journal.write(async (entry) => {
      const first = await entry.query(sql`
        update elicitation set delivered_at = ${now}, last_polled_at = greatest(last_polled_at, ${now})
        where id = ${polled.id} and delivered_at is null and status <> 'pending' returning id`)
      if (first.length > 0)
        entry.append({
          type: 'elicitation.delivered',
          sessionId: polled.sessionId,
          elicitationId: polled.id,
          actor: mcpServerActor(polled.serverName),
          data: { requestId: polled.requestId, status: polled.status },
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

async function read({ database }: Journal, requestId: string): Promise<Polled | null> {
  const [row] = await database.query<Polled>(sql`
    select e.id, e.request_id, e.session_id, e.status, e.content, e.note, e.expires_at, e.responded_at, e.delivered_at,
      e.server_name, e.cause, case when e.gate_token_id is null then null else e.session_id end as gate_session_id
    from elicitation e where e.request_id = ${requestId}`)
  return row ?? null
}
