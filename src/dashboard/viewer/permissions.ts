import type { Role } from '../generated/graphql.ts'

export type Permission = 'answer' | 'launch' | 'administer'

const permissions: Record<Role, readonly Permission[]> = {
  VIEWER: [],
  RESPONDER: ['answer'],
  LAUNCHER: ['launch'],
  OPERATOR: ['answer', 'launch'],
  ADMIN: ['answer', 'launch', 'administer'],
}

/** A key bound to a session only looks, whatever its role. */
export function permissionsOf({
  role,
  sessionId,
}: {
  role: Role
  sessionId: string | null
}): readonly Permission[] {
  return sessionId === null ? permissions[role] : []
}
