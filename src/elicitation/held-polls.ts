import { defaultLimits, heldPollsPerRequestMax } from '../base/limits.ts'

export type HoldEnd = 'resolved' | 'time is up' | 'caller left' | 'draining' | 'not held'

/**
 * The polls that this process holds open. Holding costs a timer and two map entries, and no work in the database:
 * the timeline wakes it.
 */
export interface HeldPolls {
  readonly size: number
  /**
   * A place to wait for a request's resolution. Take it *before* reading the request, so that a resolution in between
   * is not missed; `hold` then says at once that there is something new to read.
   */
  place(requestId: string, address: string): HeldPlace
  wake(requestId: string): void
  /** Lets every held poll go, and holds no further one. */
  drain(): void
}

export interface HeldPlace {
  /** Waits; `not held` when a limit leaves no room, or the server drains. */
  hold(waitMs: number, callerLeft: AbortSignal): Promise<HoldEnd>
  leave(): void
}

interface Place {
  address: string
  resolved: boolean
  release: ((end: HoldEnd) => void) | null
}

export function createHeldPolls(
  heldMax: number,
  heldPerAddressMax: number = defaultLimits.heldPollsPerAddress,
): HeldPolls {
  const places = new Map<string, Set<Place>>()
  const heldByAddress = new Map<string, number>()
  let held = 0
  let draining = false

  function hasRoom(atRequest: Set<Place>, address: string): boolean {
    if (draining || held >= heldMax || (heldByAddress.get(address) ?? 0) >= heldPerAddressMax) return false
    let here = 0
    for (const place of atRequest) if (place.release) here++
    return here < heldPollsPerRequestMax
  }

  function count(address: string, change: 1 | -1): void {
    held += change
    const now = (heldByAddress.get(address) ?? 0) + change
    if (now === 0) heldByAddress.delete(address)
    else heldByAddress.set(address, now)
  }

  return {
    get size() {
      return held
    },
    place(requestId, address) {
      const place: Place = { address, resolved: false, release: null }
      const atRequest = places.get(requestId) ?? new Set()
      places.set(requestId, atRequest.add(place))
      return {
        hold(waitMs, callerLeft) {
          if (place.resolved) return Promise.resolve('resolved')
          if (callerLeft.aborted) return Promise.resolve('caller left')
          if (waitMs <= 0 || !hasRoom(atRequest, address)) return Promise.resolve('not held')
          return new Promise((resolve) => {
            const left = () => place.release?.('caller left')
            const timer = setTimeout(() => place.release?.('time is up'), waitMs)
            place.release = (end) => {
              place.release = null
              clearTimeout(timer)
              callerLeft.removeEventListener('abort', left)
              count(address, -1)
              resolve(end)
            }
            callerLeft.addEventListener('abort', left)
            count(address, 1)
          })
        },
        leave() {
          place.release?.('caller left')
          atRequest.delete(place)
          if (atRequest.size === 0 && places.get(requestId) === atRequest) places.delete(requestId)
        },
      }
    },
    wake(requestId) {
      for (const place of [...(places.get(requestId) ?? [])]) {
        place.resolved = true
        place.release?.('resolved')
      }
    },
    drain() {
      draining = true
      for (const atRequest of [...places.values()])
        for (const place of [...atRequest]) place.release?.('draining')
    },
  }
}
