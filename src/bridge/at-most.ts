import { setTimeout as pause } from 'node:timers/promises'

/** Waits for something, for so long at most; leaves no timer behind that would keep the process alive. */
export async function atMost(ms: number, done: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  try {
    await Promise.race([done, pause(ms, null, { signal: timer.signal }).catch(() => {})])
  } finally {
    timer.abort()
  }
}
