import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Variables } from '../src/cli/connection.ts'

const stopTimeoutMs = 15_000

/** Uses the server that runs on HOST and PORT, or starts one and shows what it says; only what it started does it stop. */
export async function startServerUnlessRunning(
  environment: Variables,
  say: (text: string) => void,
): Promise<AsyncDisposable> {
  const url =
    environment.HOLDPOINT_URL ?? `http://${environment.HOST ?? '127.0.0.1'}:${environment.PORT ?? '4010'}`
  const isThere = await fetch(`${url}/livez`).then(
    ({ ok }) => ok,
    () => false,
  )
  if (isThere) {
    say(`Holdpoint runs at ${url}.`)
    return { async [Symbol.asyncDispose]() {} }
  }
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'src', 'main.ts')], {
    env: { LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Ctrl-C ends the demo, which then lets the server go in order.
    detached: true,
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
    child.kill('SIGTERM')
    await once(child, 'exit')
    clearTimeout(timer)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().then(() => process.exit(130)))
  await new Promise<void>((resolve, reject) => {
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      say(chunk.trimEnd())
      said += chunk
      if (said.includes('Holdpoint is ready')) resolve()
    })
    child.once('exit', (code) =>
      reject(new Error(`Holdpoint did not start (exit code ${code}); its own words are above.`)),
    )
  })
  return { [Symbol.asyncDispose]: stop }
}
