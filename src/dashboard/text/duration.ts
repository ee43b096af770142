const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** "4:59", "12 min", "3 h 5 min", "2 d 4 h": as exact as the time that is left makes useful. */
export function duration(ms: number): string {
  const left = Math.max(ms, 0)
  if (left < 10 * minute) {
    const seconds = Math.ceil(left / second)
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  }
  if (left < hour) return `${Math.round(left / minute)} min`
  if (left < day) return pair(left, hour, 'h', minute, 'min')
  return pair(left, day, 'd', hour, 'h')
}

function pair(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small)
  return `${Math.floor(ms / large)} ${largeName}${rest > 0 ? ` ${rest} ${smallName}` : ''}`
}

/** "just now", "5 min ago", "3 h ago", "2 d ago". */
export function since(ms: number): string {
  if (ms < 10 * second) return 'just now'
  if (ms < minute) return `${Math.floor(ms / second)} s ago`
  if (ms < hour) return `${Math.floor(ms / minute)} min ago`
  if (ms < day) return `${Math.floor(ms / hour)} h ago`
  return `${Math.floor(ms / day)} d ago`
}

/** A delay as people say it: "0.2 s", "14 s", "3 min". */
export function delay(ms: number): string {
  const size = Math.max(ms, 0)
  if (size < 10 * second) return `${Math.max(size / second, 0.1).toFixed(1)} s`
  if (size < minute) return `${Math.round(size / second)} s`
  return size < hour ? `${Math.round(size / minute)} min` : duration(size)
}
