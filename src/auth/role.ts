import type { Role } from '../database/generated/prisma/enums.ts'

export type { Role }

/** What a role is allowed to do. Reading is what every role may. */
export type Permission = 'read' | 'answer' | 'launch' | 'administer'

const permissions: Record<Role, readonly Permission[]> = {
  viewer: ['read'],
  responder: ['read', 'answer'],
  launcher: ['read', 'launch'],
  operator: ['read', 'answer', 'launch'],
  admin: ['read', 'answer', 'launch', 'administer'],
}

export function allows(role: Role, permission: Permission): boolean {
  return permissions[role].includes(permission)
}
