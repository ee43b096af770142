const keysMax = 200
/** A statement that takes longer than this may be on a connection that nobody answers any more: the next does not wait for it. */
const patienceMs = 250
const statementsMax = 4

/**
 * Reads by a key, many in one statement: calls that come while one is under way share the next, so that each is answered with
 * what was in the database at some moment after it came. `load` leaves out what is not there.
 */
export function readTogether<Row>(
  load: (keys: string[]) => Promise<Map<string, Row>>,
): (key: string) => Promise<Row | null> {
  let waiting = new Map<string, PromiseWithResolvers<Row | null>>()
  let statements = 0
  let patience: NodeJS.Timeout | undefined

  async function readWaiting(): Promise<void> {
    statements++
    while (waiting.size > 0) {
      clearTimeout(patience)
      patience = undefined
      const batch = waiting.size <= keysMax ? waiting : new Map([...waiting].slice(0, keysMax))
      if (batch === waiting) waiting = new Map()
      else for (const key of batch.keys()) waiting.delete(key)
      try {
        const rows = await load([...batch.keys()])
        for (const [key, { resolve }] of batch) resolve(rows.get(key) ?? null)
      } catch (error) {
        for (const { reject } of batch.values()) reject(error)
      }
    }
    statements--
  }

  function look(): void {
    if (statements === 0) void readWaiting()
    else
      patience ??= setTimeout(() => {
        patience = undefined
        if (waiting.size === 0) return
        if (statements < statementsMax) void readWaiting()
        else look()
      }, patienceMs)
  }

  return (key) => {
    let place = waiting.get(key)
    if (!place) {
      place = Promise.withResolvers()
      waiting.set(key, place)
      look()
    }
    return place.promise
  }
}
