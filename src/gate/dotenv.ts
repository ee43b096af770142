import { dotenvBytesMax } from '../base/limits.ts'
import { type Environment, emptyEnvironment } from './environment.ts'

/** The ASCII white space, and NUL, that is stripped. A BOM or a Unicode space stays: it makes a bad line. */
const blanks = '\0\t\n\v\f\r '
// `s`, because a value may hold a lone CR or a U+2028, at which `.` would stop.
const assignment = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s

/**
 * Reads a session's `.env`: `KEY=VALUE` lines, `#` comment lines, one pair
 * of matching outer quotes stripped, no escapes, no expansion, no inline comments, no `export`, the last one wins.
 * Lines of any other form are skipped. Not the `dotenv` package's dialect, which has all of those.
 *
 * The result has no prototype: `__proto__` is a legal name here.
 */
export function parseDotenv(text: string): { variables: Environment; warnings: string[] } {
  const variables = emptyEnvironment()
  const bytes = Buffer.byteLength(text)
  if (bytes > dotenvBytesMax) {
    const limit = `${dotenvBytesMax.toLocaleString('en')} bytes`
    return {
      variables,
      warnings: [
        `The session's .env was skipped: it has ${bytes.toLocaleString('en')} bytes, more than the ${limit} that are ` +
          'read. Move what is not configuration out of it.',
      ],
    }
  }
  for (const line of text.split('\n')) {
    const stripped = strip(line)
    if (stripped === '' || stripped.startsWith('#')) continue
    const [, name, raw] = assignment.exec(stripped) ?? []
    if (name === undefined || raw === undefined) continue
    const value = unquoted(strip(raw))
    // No operating system can carry a NUL in an environment; spawning with one fails the whole launch.
    if (!value.includes('\0')) variables[name] = value
  }
  return { variables, warnings: [] }
}

/** Whether a value counts as unset for the five spawn variables. */
export function isBlank(value: string | undefined): boolean {
  return value === undefined || strip(value) === ''
}

// A loop, because the obvious expression for trailing blanks takes quadratic time on a long run of inner ones.
function strip(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && blanks.includes(text.charAt(start))) start++
  while (end > start && blanks.includes(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

function unquoted(value: string): string {
  const quote = value[0]
  const quoted = value.length >= 2 && (quote === '"' || quote === "'") && value.endsWith(quote)
  return quoted ? value.slice(1, -1) : value
}
