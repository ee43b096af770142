const keysMax = 200

/**
 * Reads by a key, many in one statement: calls that come while one is under way share the next, so that each is answered with
 * what was in the database at some moment after it came. `load` leaves out what is not there.
 */
export function readTogether<Row>(
  load: (keys: string[]) => Promise<Map<string, Row>>,
): (key: string) => Promise<Row | null> {
  let waiting = new Map<string, PromiseWithResolvers<Row | null>>()
  let reading = false

  async function readWaiting(): Promise<void> {
    reading = true
    while (waiting.size > 0) {
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
    reading = false
  }

  return (key) => {
    let place = waiting.get(key)
    if (!place) {
      place = Promise.withResolvers()
      waiting.set(key, place)
      if (!reading) void readWaiting()
    }
    return place.promise
  }
}
