const codes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  // PostgreSQL: shutting down, crashed, starting up, too many connections, read-only standby; a statement that was cut
  // because it waited too long, or because two waited for each other.
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '25006',
  '57014',
  '40P01',
  // Prisma: unreachable, timed out, closed the connection, pool exhausted, transaction could not begin.
  'P1001',
  'P1002',
  'P1008',
  'P1017',
  'P2024',
  'P2028',
])

const messages =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|Client was closed|the database system is/i

/** Whether an error says that the database cannot be asked right now, and not that the question was wrong. */
export function isDatabaseTrouble(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause as unknown) {
    const { code } = each as { code?: unknown }
    if (typeof code === 'string' && (codes.has(code) || code.startsWith('08'))) return true
    if (messages.test(each.message)) return true
  }
  return false
}
