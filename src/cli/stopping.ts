/** Fires with the name of the signal that asks this process to end. */
export function onStop(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(signal, () => controller.abort(signal))
  return controller.signal
}

/** The name of that signal, once it has come. */
export function signalOf(stopped: AbortSignal): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const tell = () => resolve(stopped.reason)
    if (stopped.aborted) tell()
    else stopped.addEventListener('abort', tell, { once: true })
  })
}
