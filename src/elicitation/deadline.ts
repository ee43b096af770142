import { elicitationDeadlineMaxMs, elicitationDeadlineMinMs } from '../base/limits.ts'

const timestamp =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

/**
 * The time that a text names in ISO 8601, or null for anything that is not one. A text without a zone is read as UTC: the
 * zone of this machine is nothing its writer knows of.
 */
export function parseTimestamp(text: unknown): Date | null {
  if (typeof text !== 'string') return null
  const parts = timestamp.exec(text.trim())
  if (!parts) return null
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = parts
  const offset =
    zone.toUpperCase() === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.replace(':', '').slice(3) || '00'}`
  const millisecond = fraction.padEnd(3, '0').slice(0, 3)
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}${offset}`)
  if (Number.isNaN(time.getTime())) return null
  // 30 February is not the first of March.
  return Number(day) > new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate() ? null : time
}

/** When a request expires: what it asks for itself, else the default, always between a minute and a week from now. */
export function deadline(now: Date, asked: unknown, defaultExpirationMs: number): Date {
  const wanted = parseTimestamp(asked)?.getTime() ?? now.getTime() + defaultExpirationMs
  return new Date(
    Math.min(
      Math.max(wanted, now.getTime() + elicitationDeadlineMinMs),
      now.getTime() + elicitationDeadlineMaxMs,
    ),
  )
}
