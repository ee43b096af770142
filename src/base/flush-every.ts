/**
 * Writes down regularly what is collected in memory: one `flush` at a time, every `intervalMs`, without keeping the process
 * alive for it. A failure is told, and the next flush comes all the same.
 * @returns what ends it: waits for the flush under way and makes a last one.
 */
export function flushEvery(
  intervalMs: number,
  flush: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let flushing = Promise.resolve()
  const flushNext = () => {
    flushing = flushing.then(flush).catch(onError)
    return flushing
  }
  const timer = setInterval(flushNext, intervalMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    return flushNext()
  }
}
