import { flushEvery } from '../base/flush-every.ts'
import { systemActor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'

/** Attempts with a wrong credential, for the audit: counted, so that no stranger grows the timeline by failing. */
export interface FailedAttempts {
  /** One more, from a network address. The first of an address in a minute is on the record at once. */
  count(address: string): Promise<void>
  /** Puts what was counted on the record. */
  stop(): Promise<void>
}

const windowMs = 60_000
/** Addresses with a line of their own in a minute; what comes from any more of them is one line together. */
const addressesPerMinuteMax = 20

export function createFailedAttempts({
  journal,
  type,
  onError,
}: {
  journal: Journal
  /** `key.refused`: a key that is unknown, expired or revoked, on whatever surface. */
  type: 'sign_in.failed' | 'key.refused'
  onError: (error: unknown) => void
}): FailedAttempts {
  /** Attempts that are not on the record yet, by address; null stands for all others. */
  let counted = new Map<string | null, number>()
  let since = journal.now()

  async function write(attempts: Map<string | null, number>, from: Date): Promise<void> {
    const lines = [...attempts].filter(([, count]) => count > 0)
    if (lines.length > 0)
      await journal.write(async (entry) => {
        for (const [address, count] of lines)
          entry.append({
            type,
            actor: systemActor,
            data: { address, attempts: count, since: from.toISOString() },
            at: journal.now(),
          })
      })
  }

  async function flush(): Promise<void> {
    const [attempts, from] = [counted, since]
    counted = new Map()
    since = journal.now()
    await write(attempts, from)
  }
  const stop = flushEvery(windowMs, flush, onError)

  return {
    async count(address) {
      const line = counted.has(address) || counted.size < addressesPerMinuteMax ? address : null
      const before = counted.get(line)
      counted.set(line, before === undefined ? 0 : before + 1)
      if (before === undefined) await write(new Map([[line, 1]]), since).catch(onError)
    },
    stop,
  }
}
