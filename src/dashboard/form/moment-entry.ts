/**
 * A moment as its two controls hold it: a local date and time without a zone (what `datetime-local` gives), and where
 * that is: `here` (the browser's own zone), `Z`, or an offset such as `+02:00`.
 */
export type MomentEntry = { local: string; zone: string }

export const emptyMoment: MomentEntry = { local: '', zone: 'here' }

const timestamp = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)\d*([Zz]|[+-]\d{2}:\d{2})$/

/** The controls' state for an RFC 3339 timestamp; empty for anything else. */
export function momentEntryOf(text: string | null): MomentEntry {
  const parts = timestamp.exec(text ?? '')
  if (!parts) return emptyMoment
  const [, date, time, zone] = parts as unknown as [string, string, string, string]
  return { local: `${date}T${time.replace(/(:\d{2}):00(?:\.0+)?$/, '$1')}`, zone: zone.toUpperCase() }
}

/** RFC 3339 with seconds and an offset: what a bare `datetime-local` value is not. */
export function timestampOf({ local, zone }: MomentEntry): string {
  const seconds = /T\d{2}:\d{2}$/.test(local) ? ':00' : ''
  return `${local}${seconds}${zone === 'here' ? offsetHere(local) : zone}`
}

/** The browser's offset on that day, not today's: summer time may lie between. */
export function offsetHere(local: string): string {
  const moment = new Date(local)
  return offsetText(Number.isNaN(moment.getTime()) ? 0 : -moment.getTimezoneOffset())
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes)
  const two = (number: number) => String(Math.trunc(number)).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`
}

const unevenOffsets = [-570, -210, -150, 210, 270, 330, 345, 390, 525, 570, 630, 765]

/** Every offset that is in use somewhere, west to east. */
export const offsets: string[] = [
  ...Array.from({ length: 27 }, (_, index) => (index - 12) * 60),
  ...unevenOffsets,
]
  .toSorted((west, east) => west - east)
  .map(offsetText)
