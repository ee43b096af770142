import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../base/log.ts'
import { isDatabaseTrouble } from './trouble.ts'

/** Whoever starts a server and its database together starts them in any order. */
const patienceDefaultMs = 60_000
const tryAgainMs = 500

/**
 * The first work with a database that may not be up yet: done again for up to a minute while the database cannot be reached.
 * A database that answers, if only to refuse, is up: then there is nothing to wait for. Throws what `work` threw last.
 */
export async function withPatience<T>(
  work: () => Promise<T>,
  { log, patienceMs = patienceDefaultMs }: { log: Pick<Log, 'warn'>; patienceMs?: number },
): Promise<T> {
  const until = performance.now() + patienceMs
  for (let told = false; ; told = true) {
    try {
      return await work()
    } catch (error) {
      if (!isDatabaseTrouble(error) || performance.now() > until) throw error
      if (!told)
        log.warn(
          `The database cannot be reached yet, waiting up to ${patienceMs / 1_000} s for it. ${(error as Error).message}`,
        )
      await delay(tryAgainMs)
    }
  }
}
