import { InvalidTransitionError, type Refusal } from '../base/refusal.ts'
import { summarise } from '../base/text.ts'
import type { Session } from '../database/generated/prisma/client.ts'
import type { Cause, ElicitationStatus, LostReason } from '../database/generated/prisma/enums.ts'
import { type Actor, clockActor, type EventType, type NewEvent } from '../events/event.ts'
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
    this.#wasInQueue = this.#needsInputReason() !== null
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
    this.note(next.event, actor, {
      from,
      to: next.to,
      ...(reason === null ? {} : { reason }),
      endsProcess: next.endsProcess,
    })
    if (next.endsPending)
      for (const { id } of this.pending.slice())
        this.resolve(id, { status: 'cancel', cause: 'session_ended', actor, surface: null })
    if (next.lost === 'drop') this.dropLost(actor)
    if (next.lost === 'strand') this.#recordLost('stranded', unanswered ?? null, actor)
    return null
  }

  /** Ends a pending request. The session is brought in step separately. */
  resolve(elicitationId: string, resolution: Resolution): void {
    const request = this.pending.find((each) => each.id === elicitationId)
    if (!request) throw new Error(`elicitation ${elicitationId} is not pending`)
    this.pending = this.pending.filter((each) => each !== request)
    this.resolved.set(elicitationId, resolution)
    const { status, cause, actor, surface, address, note } = resolution
    this.note(
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
    this.note('elicitation.created', actor, { requestId: request.requestId, ...data }, request.id)
  }

  /** Blocks or unblocks the session as its requests have it. Follows every creation, answer and expiry, and a start or unarchive. */
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
      this.#recordLost('expired', last, clockActor)
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
    if (status === 'needs_input') this.#recordLost('stranded', latest, actor)
    return true
  }

  /** The session has moved on from what it lost. */
  dropLost(actor: Actor): void {
    if (this.row.lostReason === null) return
    this.#change({ lostReason: null, lostAt: null, lostRequestId: null, lostSummary: null })
    this.note('session.lost_cleared', actor, {})
  }

  /** Something that happened to the session, in the same commit. */
  note(
    type: EventType,
    actor: Actor,
    data: Record<string, unknown>,
    elicitationId: string | null = null,
  ): void {
    this.changed = true
    this.events.push({ type, sessionId: this.row.id, elicitationId, actor, data, at: this.now })
  }

  /** The events to write, the last one telling what they did to the attention queue. */
  close(): NewEvent[] {
    const last = this.events.at(-1)
    const reason = this.#needsInputReason()
    if (last && (reason !== null || this.#wasInQueue)) {
      last.attention = reason === null ? 'left' : this.#wasInQueue ? 'updated' : 'entered'
      last.data = { ...last.data, needsInputReason: reason }
    }
    return this.events
  }

  #needsInputReason(): NeedsInputReason | null {
    return needsInputReason(this.row, this.pending.length)
  }

  #recordLost(
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
    this.note('session.lost_recorded', actor, { reason, requestId: request?.requestId ?? null, summary })
  }

  #change(values: Partial<Session>): void {
    Object.assign(this.row, values)
    this.changed = true
  }
}

export type NeedsInputReason = 'turn_ended' | 'elicitation'

/** Why a session is in the attention queue: an open request, or else a turn that ended. Null when it is not. */
export function needsInputReason(row: Pick<Session, 'status'>, activeCount: number): NeedsInputReason | null {
  if (row.status !== 'archived' && activeCount > 0) return 'elicitation'
  return row.status === 'needs_input' ? 'turn_ended' : null
}
