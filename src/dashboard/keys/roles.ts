import type { Role } from '../generated/graphql.ts'

export const roles: Role[] = ['VIEWER', 'RESPONDER', 'LAUNCHER', 'OPERATOR', 'ADMIN']

export const roleMeanings: Record<Role, string> = {
  VIEWER: 'Reads everything, changes nothing.',
  RESPONDER: 'Reads, and answers requests.',
  LAUNCHER: 'Reads, manages sessions and launches agents; never answers.',
  OPERATOR: 'Responder and launcher.',
  ADMIN: 'Operator, and manages keys.',
}
