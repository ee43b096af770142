import type { TextFormat } from './field.ts'

/**
 * What is wrong with a text of a format, as a sentence that says what to enter; null when nothing is.
 * Never more permissive than the validators of the MCP SDKs (RFC 3339, RFC 3986, addr-spec with a dotted domain):
 * what is accepted here must not come back from the server as an error.
 */
export function formatProblem(format: TextFormat, text: string): string | null {
  switch (format) {
    case 'TEXT':
      return null
    case 'EMAIL':
      return emailProblem(text)
    case 'URI':
      return uriProblem(text)
    case 'DATE':
      return dateProblem(text)
    case 'DATE_TIME':
      return dateTimeProblem(text)
  }
}

const atom = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+$/i
const label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i

function isEmail(text: string): boolean {
  if (text.length > 254) return false
  const at = text.lastIndexOf('@')
  const local = text.slice(0, at).split('.')
  const domain = text.slice(at + 1).split('.')
  return (
    at > 0 &&
    at <= 64 &&
    local.every((part) => atom.test(part)) &&
    domain.length > 1 &&
    domain.every((part) => part.length <= 63 && label.test(part))
  )
}

function emailProblem(text: string): string | null {
  if (isEmail(text)) return null
  if (isEmail(text.trimEnd())) return 'Remove the space at the end.'
  if (isEmail(text.trimStart())) return 'Remove the space at the start.'
  if (isEmail(text.trim())) return 'Remove the spaces at the start and the end.'
  return 'Enter an email address such as name@example.org.'
}

// RFC 3986, with escapes looked at separately so that each expression stays linear.
const hostCharacters = "a-z0-9\\-._~!$&'()*+,;=%"
const pathCharacters = `${hostCharacters}:@`
const uri = new RegExp(
  `^[a-z][a-z0-9+\\-.]*:` +
    `(?://(?:[${hostCharacters}:]*@)?(?:\\[([0-9a-f:.]+)\\]|[${hostCharacters}]*)(?::\\d*)?(?:/[${pathCharacters}/]*)?` +
    `|/?[${pathCharacters}][${pathCharacters}/]*` +
    `|/)` +
    `(?:\\?[${pathCharacters}/?]*)?(?:#[${pathCharacters}/?]*)?$`,
  'i',
)

function isUri(text: string): boolean {
  const parts = uri.exec(text)
  if (!parts || /%(?![0-9a-f]{2})/i.test(text)) return false
  const address = parts[1]
  return address === undefined || URL.canParse(`http://[${address}]/`)
}

function uriProblem(text: string): string | null {
  if (isUri(text)) return null
  if (/\s/.test(text)) {
    return isUri(text.trim()) ? 'Remove the space at the start or the end.' : 'An address has no spaces.'
  }
  if (!/^[a-z][a-z0-9+\-.]*:/i.test(text)) return 'Enter a full address with its scheme, such as https://.'
  const ascii = URL.canParse(text) ? new URL(text).href : text
  return ascii !== text && isUri(ascii)
    ? `An address has only plain letters, digits and signs. Write it as ${ascii}`
    : 'Enter a full address such as https://example.org/run.'
}

const months = [
  ['January', 31],
  ['February', 29],
  ['March', 31],
  ['April', 30],
  ['May', 31],
  ['June', 30],
  ['July', 31],
  ['August', 31],
  ['September', 30],
  ['October', 31],
  ['November', 30],
  ['December', 31],
] as const

const day = /^(\d{4})-(\d{2})-(\d{2})$/

function calendarProblem(text: string): string | null {
  const [year, month, date] = text.split('-').map(Number) as [number, number, number]
  const named = months[month - 1]
  if (!named) return `Month ${month} does not exist.`
  const [name, length] = named
  if (date < 1 || date > length) return `${date} ${name} does not exist.`
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && date === 29 && !leap ? `29 February does not exist in ${year}.` : null
}

function dateProblem(text: string): string | null {
  if (day.test(text)) return calendarProblem(text)
  return /^\d{4}-\d{2}-\d{2}[T ]/i.test(text)
    ? 'Enter a date without a time.'
    : 'Use year-month-day, such as 2026-02-28.'
}

const instant = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:Z|[+-](\d{2}):(\d{2}))$/i

function dateTimeProblem(text: string): string | null {
  const parts = instant.exec(text)
  if (parts) {
    const [, date, hour, minute, second, offsetHour = '00', offsetMinute = '00'] = parts
    const problem = calendarProblem(date!)
    if (problem) return problem
    if (Number(hour) > 23) return 'Hours go from 00 to 23.'
    if (Number(minute) > 59) return 'Minutes go from 00 to 59.'
    if (Number(second) > 59) return 'Seconds go from 00 to 59.'
    if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return 'A time zone goes from -23:59 to +23:59.'
    return null
  }
  if (day.test(text)) return calendarProblem(text) ?? 'Add a time.'
  if (/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}$/i.test(text)) {
    return 'Add seconds and a time zone, such as 2026-02-28T10:00:00Z.'
  }
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?$/i.test(text)) {
    return 'Add a time zone, such as 2026-02-28T10:00:00Z.'
  }
  return 'Use a date, a time and a time zone, such as 2026-02-28T10:00:00Z.'
}
