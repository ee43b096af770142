import type { Actor } from '../events/event.ts'
import { allows, type Permission, type Role } from './role.ts'

/** Whose credential a request carries: an API key, a browser signed in with one, or a user named by a trusted proxy. */
export interface Identity {
  kind: 'api-key' | 'user'
  /** The key's id, or `user:<name>`: the same actor on any surface. */
  id: string
  name: string
  role: Role
  /** Set for a key bound to a session: it sees that session only, and answers nothing. */
  sessionId: string | null
}

export function may(identity: Identity, permission: Permission): boolean {
  if (identity.sessionId !== null && permission !== 'read') return false
  return allows(identity.role, permission)
}

/** Whether the identity may see what belongs to a session. */
export function sees(identity: Identity, sessionId: string): boolean {
  return identity.sessionId === null || identity.sessionId === sessionId
}

export function actorOf({ kind, name, role, id }: Identity): Actor {
  return { kind, name, role, id }
}
