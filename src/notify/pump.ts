export interface PumpOptions<Item> {
  /** Takes up to `max` items for this pump alone; none when there are none. */
  claim(max: number): Promise<Item[]>
  handle(item: Item): Promise<void>
  /** Items in hand at once. */
  concurrency: number
  onError(error: unknown): void
}

export interface Pump {
  /** Looks for items; settles when all that could be taken are in hand. */
  look(): Promise<void>
  /** Settles when nothing is in hand. */
  settled(): Promise<void>
  /** Takes nothing more. */
  stop(): void
}

/** Works on items as they come, so that one that takes long holds up none of the others, until its kind fills every place. */
export function createPump<Item>({ claim, handle, concurrency, onError }: PumpOptions<Item>): Pump {
  const inHand = new Set<Promise<void>>()
  let stopped = false

  const look = oneAtATime(async () => {
    while (!stopped && inHand.size < concurrency) {
      const items = await claim(concurrency - inHand.size)
      if (items.length === 0) return
      for (const item of items) take(item)
    }
  })

  function take(item: Item): void {
    const done = handle(item)
      .catch(onError)
      .finally(() => {
        inHand.delete(done)
        // A place is free, and what waited for this item may go.
        if (!stopped) look().catch(onError)
      })
    inHand.add(done)
  }

  return {
    look,
    async settled() {
      do {
        await Promise.allSettled([look.running(), ...inHand])
      } while (inHand.size > 0 || look.running())
    },
    stop() {
      stopped = true
    },
  }
}

/**
 * Runs `work` once at a time; any number of calls while it runs make one more run, which they all wait for. What a call
 * asks to be looked at is so always looked at after the call.
 */
export function oneAtATime(
  work: () => Promise<void>,
): (() => Promise<void>) & { running(): Promise<void> | null } {
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  function begin(): Promise<void> {
    const run = work().finally(() => {
      if (running === run) running = null
    })
    running = run
    return run
  }
  function call(): Promise<void> {
    // A run that waits its turn looks after this call.
    if (next) return next
    if (!running) return begin()
    next = running
      .catch(() => {})
      .then(() => {
        next = null
        return begin()
      })
    return next
  }
  return Object.assign(call, { running: () => next ?? running })
}
