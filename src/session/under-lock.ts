import { InvalidTransitionError, NotFoundError, type Refusal } from '../base/refusal.ts'
import { summarise } from '../base/text.ts'
import type { Session } from '../database/generated/prisma/client.ts'
import type { Cause, ElicitationStatus, LostReason } from '../database/generated/prisma/enums.ts'
import { sql } from '../database/sql.ts'
import { type Actor, clockActor, type EventType, type NewEvent } from '../events/event.ts'
import type { Journal, JournalEntry } from '../events/journal.ts'
import { type SessionEvent, transition } from './lifecycle.ts'

/** What the session needs to know of a request that nobody has resolved yet. */
export interface PendingElicitation {
  id: string
  sessionId: string
  requestId: string
  toolName: string | null
  message: string
  expiresAt: Date
  gateTokenId: string | null
  callerAddress: string | null
}

export interface Resolution {
  status: Exclude<ElicitationStatus, 'pending'>
  cause: Cause
  actor: Actor
  surface: string | null
  /** The network address that an answer came from. */
  address?: string | null
  content?: unknown
  note?: string | null
}

/**
 * Does `work` on one session while its row is locked, and commits the changes with their events. What is past its
 * deadline has been expired before `work` runs, so that inside "pending" and "active" are the same thing.
 */
export async function underLock<T>(
  journal: Journal,
  sessionId: string,
  work: (session: LockedSession, entry: JournalEntry) => Promise<T>,
): Promise<T | NotFoundError> {
  return journal.write(async (entry) => {
    const [session] = await lockSessions(journal, entry, [sessionId])
    if (!session) return new NotFoundError('There is no such session. Check its id.')
    session.expireOverdue()
    const result = await work(session, entry)
    saveSessions(entry, [session])
    return result
  })
}

/**
 * Locks the rows in the order of their ids, so that two callers never wait for each other, and reads what is pending
 * in a second statement: the first one's snapshot may be older than the lock.
 */
export async function lockSessions(
  journal: Journal,
  entry: JournalEntry,
  ids: string[],
): Promise<LockedSession[]> {
  const [rows, pending] = await Promise.all([
    entry.query<Session>(sql`select * from session where id = any(${ids}::uuid[]) order by id for update`),
    entry.query<PendingElicitation>(sql`
      select id, session_id, request_id, tool_name, left(message, 1000) as message, expires_at, gate_token_id, caller_address
      from elicitation where session_id = any(${ids}::uuid[]) and status = 'pending'`),
  ])
  const now = journal.now()
  // Here, as an index that has this order would read what other sessions wait for.
  pending.sort((a, b) => (a.id < b.id ? -1 : 1))
  const bySession = Map.groupBy(pending, (each) => each.sessionId)
  return rows.map((row) => new LockedSession(row, bySession.get(row.id) ?? [], now))
}

/** A session whose row is locked: the lifecycle and the rules that keep it in step with its elicitations. */
export class LockedSession {
  readonly row: Session
  readonly now: Date
  readonly resolved = new Map<string, Resolution>()
  readonly events: NewEvent[] = []
  pending: PendingElicitation[]
  changed = false
  readonly #wasInQueue: boolean

  constructor(row: Session, pending: PendingElicitation[], now: Date) {
    this.row = row
    this.pending = pending
    this.now = now
    this.#wasInQueue = this.#inQueue()
  }

  /** Applies an event of the lifecycle, or says why it may not happen now. */
  apply(
    event: SessionEvent,
    actor: Actor,
    { reason = null }: { reason?: string | null } = {},
  ): Refusal | null {
    const { row } = this
    const next = transition(event, {
      status: row.status,
      blocked: row.blockedOnElicitation,
      archivedFrom: row.archivedFrom,
    })
    if ('refused' in next) return new InvalidTransitionError(row.status, event, next.refused)
    const from = row.status
    const unanswered = this.pending.at(-1)
    row.status = next.to
    row.archivedFrom = next.to === 'archived' ? from : null
    row.blockedOnElicitation = next.blocked
    if (event === 'fail') row.failureReason = reason
    if (event === 'resume') row.failureReason = null
    row.needsInputSince = next.to === 'needs_input' ? this.now : null
    this.#append(next.event, actor, {
      from,
      to: next.to,
      ...(reason === null ? {} : { reason }),
      endsProcess: next.endsProcess,
    })
    if (next.endsPending)
      for (const { id } of this.pending.slice())
        this.resolve(id, { status: 'cancel', cause: 'session_ended', actor, surface: null })
    if (next.lost === 'drop') this.dropLost(actor)
    if (next.lost === 'strand') this.recordLost('stranded', unanswered ?? null, actor)
    return null
  }

  /** Ends a pending request. The session is brought in step separately. */
  resolve(elicitationId: string, resolution: Resolution): void {
    const request = this.pending.find((each) => each.id === elicitationId)
    if (!request) throw new Error(`elicitation ${elicitationId} is not pending`)
    this.pending = this.pending.filter((each) => each !== request)
    this.resolved.set(elicitationId, resolution)
    const { status, cause, actor, surface, address, note } = resolution
    this.#append(
      'elicitation.resolved',
      actor,
      {
        requestId: request.requestId,
        status,
        cause,
        ...(surface ? { surface, keyId: actor.id } : {}),
        ...(address ? { address } : {}),
        ...(note ? { note } : {}),
      },
      elicitationId,
    )
  }

  /** Takes in a request that was just created. */
  add(request: PendingElicitation, actor: Actor, data: Record<string, unknown>): void {
    this.pending.push(request)
    this.#append('elicitation.created', actor, { requestId: request.requestId, ...data }, request.id)
  }

  /** Follows every creation, answer and expiry, and a start or unarchive. */
  keepInStep(actor: Actor): void {
    if (this.pending.length > 0) {
      this.dropLost(actor)
      if (this.row.status === 'running') this.apply('block_on_elicitation', actor)
    } else if (this.row.blockedOnElicitation) {
      if (this.row.status === 'needs_input') this.apply('unblock_from_elicitation', actor)
      else this.#change({ blockedOnElicitation: false })
    }
  }

  /** The clock answers what is past its deadline. The last one to go leaves a record: its agent went on without approval. */
  expireOverdue(): void {
    const overdue = this.pending.filter((each) => each.expiresAt <= this.now)
    if (overdue.length === 0) return
    for (const { id } of overdue)
      this.resolve(id, { status: 'expired', cause: 'expired', actor: clockActor, surface: null })
    this.keepInStep(clockActor)
    const { status } = this.row
    if (this.pending.length === 0 && status !== 'archived' && status !== 'failed') {
      const last = overdue.reduce((a, b) => (b.expiresAt >= a.expiresAt ? b : a))
      this.recordLost('expired', last, clockActor)
    }
  }

  /**
   * Takes the marker off a session whose round trip never completed. It does not become running: nothing would watch
   * that run. `latest` is its most recent elicitation.
   */
  strand(
    latest: Pick<PendingElicitation, 'requestId' | 'toolName' | 'message'> | null,
    actor: Actor,
  ): boolean {
    const { status, blockedOnElicitation } = this.row
    if (!blockedOnElicitation || this.pending.length > 0) return false
    if (status !== 'needs_input' && status !== 'running') return false
    this.#change({ blockedOnElicitation: false })
    if (status === 'needs_input') this.recordLost('stranded', latest, actor)
    return true
  }

  recordLost(
    reason: LostReason,
    request: Pick<PendingElicitation, 'requestId' | 'toolName' | 'message'> | null,
    actor: Actor,
  ): void {
    const summary = request ? summarise(request.toolName, request.message) : null
    this.#change({
      lostReason: reason,
      lostAt: this.now,
      lostRequestId: request?.requestId ?? null,
      lostSummary: summary,
    })
    this.#append('session.lost_recorded', actor, { reason, requestId: request?.requestId ?? null, summary })
  }

  dropLost(actor: Actor): void {
    if (this.row.lostReason === null) return
    this.#change({ lostReason: null, lostAt: null, lostRequestId: null, lostSummary: null })
    this.#append('session.lost_cleared', actor, {})
  }

  /** Anything else that happened to the session, in the same commit. */
  note(
    type: EventType,
    actor: Actor,
    data: Record<string, unknown>,
    elicitationId: string | null = null,
  ): void {
    this.#append(type, actor, data, elicitationId)
  }

  /** The events to write, the last one telling what they did to the attention queue. */
  close(): NewEvent[] {
    const last = this.events.at(-1)
    const inQueue = this.#inQueue()
    if (last && (inQueue || this.#wasInQueue)) {
      last.attention = inQueue ? (this.#wasInQueue ? 'updated' : 'entered') : 'left'
      last.data = {
        ...last.data,
        needsInputReason: inQueue ? needsInputReason(this.row, this.pending.length) : null,
      }
    }
    return this.events
  }

  #inQueue(): boolean {
    return this.row.status === 'needs_input' || (this.row.status !== 'archived' && this.pending.length > 0)
  }

  #change(values: Partial<Session>): void {
    Object.assign(this.row, values)
    this.changed = true
  }

  #append(
    type: EventType,
    actor: Actor,
    data: Record<string, unknown>,
    elicitationId: string | null = null,
  ): void {
    this.changed = true
    this.events.push({ type, sessionId: this.row.id, elicitationId, actor, data, at: this.now })
  }
}

export type NeedsInputReason = 'turn_ended' | 'elicitation'

/** Why a session needs a person: an open request, or else a turn that ended. */
export function needsInputReason(row: Pick<Session, 'status'>, activeCount: number): NeedsInputReason | null {
  if (row.status !== 'archived' && activeCount > 0) return 'elicitation'
  return row.status === 'needs_input' ? 'turn_ended' : null
}

/**
 * Writes what changed: at most one statement for the elicitations and one for the sessions, however many. They go out with
 * the timeline and the commit. The ids come a second time as an array, because PostgreSQL takes any JSON for a hundred rows
 * and would rather read a table of some thousand sessions than look each of them up.
 */
export function saveSessions(entry: JournalEntry, sessions: LockedSession[]): void {
  const resolutions = sessions.flatMap((session) =>
    [...session.resolved].map(([id, { status, cause, content, note, surface, actor }]) => ({
      id,
      status,
      cause,
      content,
      note,
      at: session.now,
      name: surface === null ? null : (actor.name ?? actor.kind),
      surface,
      actor: actor.id,
    })),
  )
  if (resolutions.length > 0) {
    // Nobody waits for its result, so it fails by itself where one was not pending any more: a change without the lock.
    void entry.query(sql`
      with written as (
        update elicitation set status = r.status, cause = r.cause, content = r.content, note = r.note,
          responded_at = r.at, responded_by_name = r.name, responded_by_surface = r.surface, responded_by_actor = r.actor
        from json_to_recordset(${JSON.stringify(resolutions)}) as r(id uuid, status elicitation_status, cause cause, content json,
          note text, at timestamptz, name text, surface text, actor text)
        where elicitation.id = r.id and elicitation.id = any(${resolutions.map(({ id }) => id)}::uuid[]) and elicitation.status = 'pending'
        returning elicitation.id)
      select 1 / (count(*) = ${resolutions.length})::int as pending from written`)
  }
  // The row is what commands return: it says what was written.
  for (const session of sessions) if (session.changed) session.row.updatedAt = session.now
  const rows = sessions.filter((session) => session.changed).map(({ row }) => changeable(row))
  if (rows.length > 0)
    void entry.query(sql`
      update session set status = r.status, blocked_on_elicitation = r.blocked, archived_from = r.archived_from,
        lost_reason = r.lost_reason, lost_at = r.lost_at, lost_request_id = r.lost_request_id, lost_summary = r.lost_summary,
        needs_input_since = r.needs_input_since, failure_reason = r.failure_reason, updated_at = r.updated_at
      from json_to_recordset(${JSON.stringify(rows)}) as r(id uuid, status session_status, blocked boolean,
        archived_from session_status, lost_reason lost_reason, lost_at timestamptz, lost_request_id text, lost_summary text,
        needs_input_since timestamptz, failure_reason text, updated_at timestamptz)
      where session.id = r.id and session.id = any(${rows.map(({ id }) => id)}::uuid[])`)
  for (const session of sessions) for (const event of session.close()) entry.append(event)
}

/** What a command can change of a session, by the names of the statement above. */
function changeable(row: Session) {
  return {
    id: row.id,
    status: row.status,
    blocked: row.blockedOnElicitation,
    archived_from: row.archivedFrom,
    lost_reason: row.lostReason,
    lost_at: row.lostAt,
    lost_request_id: row.lostRequestId,
    lost_summary: row.lostSummary,
    needs_input_since: row.needsInputSince,
    failure_reason: row.failureReason,
    updated_at: row.updatedAt,
  }
}
