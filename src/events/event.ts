import type { Attention, Role } from '../database/generated/prisma/enums.ts'

export const actorKinds = ['api-key', 'user', 'mcp-server', 'clock', 'sweep', 'runner', 'system'] as const

/**
 * Who did something. An API key or a signed-in user by name and role; everything else by its kind alone.
 * `id` is the credential, so that "the same actor again" can be told; it is not shown.
 */
export interface Actor {
  kind: (typeof actorKinds)[number]
  name: string | null
  role: Role | null
  id: string | null
}

export const clockActor: Actor = { kind: 'clock', name: null, role: null, id: null }
export const sweepActor: Actor = { kind: 'sweep', name: null, role: null, id: null }
export const systemActor: Actor = { kind: 'system', name: null, role: null, id: null }

export function mcpServerActor(serverName: string | null): Actor {
  return { kind: 'mcp-server', name: serverName, role: null, id: null }
}

export const eventTypes = [
  'session.created',
  'session.started',
  'session.paused',
  'session.resumed',
  'session.slept',
  'session.blocked',
  'session.unblocked',
  'session.failed',
  'session.archived',
  'session.unarchived',
  'session.lost_recorded',
  'session.lost_cleared',
  'elicitation.created',
  'elicitation.resolved',
  'elicitation.delivered',
  'elicitation.answer_refused',
  'process.registered',
  'process.exited',
  'process.lost',
  'launch.prepared',
  'gate.reported',
  'gate.unreachable',
  'gate.recovered',
  'gate.token_created',
  'gate.token_ended',
  'key.created',
  'key.rotated',
  'key.revoked',
  'key.refused',
  'sign_in.link_created',
  'sign_in.succeeded',
  'sign_in.failed',
  'sign_in.ended',
  'notification.sent',
  'notification.failed',
] as const

export type EventType = (typeof eventTypes)[number]

/** What happens to credentials of the whole house, and who signs in, is for those who administer them. */
export function isForAdmins({ type, sessionId }: Pick<TimelineEvent, 'type' | 'sessionId'>): boolean {
  return sessionId === null && /^(key|sign_in)\./.test(type)
}

/** What an event says of where somebody was, and with which credential; for admins, wherever the event is shown. */
export const auditData: readonly string[] = ['address', 'keyId', 'successorKeyId']

export interface NewEvent {
  type: EventType
  sessionId?: string | null
  elicitationId?: string | null
  actor: Actor
  data?: Record<string, unknown>
  /** What it did to the session's place in the attention queue; null when nothing that the queue shows changed. */
  attention?: Attention | null
  at: Date
}

/** A committed event. Cursors grow with time; one that is handed out has no unseen one before it. */
export interface TimelineEvent {
  cursor: bigint
  type: EventType
  sessionId: string | null
  elicitationId: string | null
  actorKind: Actor['kind']
  actorName: string | null
  actorRole: Role | null
  data: Record<string, unknown>
  attention: Attention | null
  at: Date
}
