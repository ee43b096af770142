import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adminKey, clientOf, freePort, type TestClient } from './server.ts'

export interface ServerProcess extends TestClient, AsyncDisposable {
  pid: number
  port: number
  /** Everything that it printed. */
  output(): string
  /** Settles once it serves; rejects when it ends before that. */
  ready: Promise<void>
  /** Settles with the exit code, or null after a signal that it did not survive. */
  exited: Promise<number | null>
  kill(signal: NodeJS.Signals): void
  isAlive(): boolean
}

export interface ServerProcessOptions {
  connectionString: string
  /** Several servers may share one. */
  port?: number
  environment?: Record<string, string>
}

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** Starts a server as people do, in a process of its own, and does not wait for it. Disposing of it ends it the hard way. */
export async function spawnServer({
  connectionString,
  port,
  environment = {},
}: ServerProcessOptions): Promise<ServerProcess> {
  const at = port ?? (await freePort())
  const dataDir = await mkdtemp(join(tmpdir(), 'holdpoint-test-data-'))
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      // Many are started from the same files.
      NODE_COMPILE_CACHE: join(tmpdir(), 'holdpoint-test-compiled'),
      PORT: String(at),
      DATABASE_URL: connectionString,
      HOLDPOINT_ADMIN_KEY: adminKey,
      HOLDPOINT_DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  // Whoever does not wait for it need not hear that it was killed.
  const ready = untilReady(child, exited, () => output)
  ready.catch(() => {})
  return {
    ...clientOf(`http://127.0.0.1:${at}`),
    pid: child.pid!,
    port: at,
    output: () => output,
    ready,
    exited,
    kill: (signal) => child.kill(signal),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await exited
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function untilReady(
  child: ChildProcess,
  exited: Promise<number | null>,
  output: () => string,
): Promise<void> {
  const printed = new Promise<void>((resolve) => {
    child.stdout!.on('data', () => {
      if (output().includes('Holdpoint is ready')) resolve()
    })
  })
  await Promise.race([
    printed,
    exited.then((code) => {
      throw new Error(`the server ended with ${code} before it was ready:\n${output()}`)
    }),
  ])
}
