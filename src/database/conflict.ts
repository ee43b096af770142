const uniqueViolation = '23505'

/** Whether a statement failed because a row with that key is there already; `constraint` names the index. */
export function isConflict(error: unknown, constraint: string): boolean {
  if (!(error instanceof Error)) return false
  const { code, constraint: violated } = error as { code?: unknown; constraint?: unknown }
  return code === uniqueViolation && violated === constraint
}
