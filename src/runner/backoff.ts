import { setTimeout as sleep } from 'node:timers/promises'

const firstMs = 250
const longestMs = 30_000

/** How long to wait before the next try after `failures` of them: doubling, and never two clients in step. */
export function backoffMs(failures: number): number {
  const wanted = Math.min(firstMs * 2 ** Math.max(0, failures - 1), longestMs)
  return wanted * (0.75 + Math.random() / 2)
}

/** Waits out the backoff, or until the signal. */
export async function backOff(failures: number, signal: AbortSignal): Promise<void> {
  await sleep(backoffMs(failures), undefined, { signal }).catch(() => undefined)
}

/**
 * Tries again until it works, the signal fires, or `isWorthwhile` says that trying again would change nothing; then what went
 * wrong last is thrown.
 */
export async function retry<Value>(
  work: () => Promise<Value>,
  options: {
    signal: AbortSignal
    isWorthwhile: (error: unknown) => boolean
    onFailure?: (error: unknown) => void
  },
): Promise<Value> {
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (error) {
      if (!options.isWorthwhile(error) || options.signal.aborted) throw error
      options.onFailure?.(error)
      await backOff(failures, options.signal)
      if (options.signal.aborted) throw error
    }
  }
}
