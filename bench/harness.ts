import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Figure } from './figure.ts'

/** One request a connection at a time, as fast as the answers come: `requests` of them over `connections` sockets. */
export async function load(options: {
  port: number
  requests: number
  connections: number
  /** The bytes of the i-th request. */
  request: (i: number) => string
}): Promise<{ perSecond: number; failures: number }> {
  let sent = 0
  let failures = 0
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: options.connections }, async () => {
      const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true })
      await once(socket, 'connect')
      await new Promise<void>((resolve, reject) => {
        // On one machine the load takes from what it measures: nothing is decoded but the first bytes and the length.
        let answer: Buffer | null = null
        const next = () => {
          if (sent >= options.requests) {
            socket.end()
            return resolve()
          }
          socket.write(options.request(sent++), 'latin1')
        }
        socket.on('data', (chunk) => {
          answer = answer === null ? chunk : Buffer.concat([answer, chunk])
          const end = answer.indexOf('\r\n\r\n')
          if (end < 0) return
          const length = contentLengthOf(answer)
          if (length === null) return reject(new Error(`no content-length: ${answer.subarray(0, end)}`))
          if (answer.length < end + 4 + length) return
          if (answer.toString('latin1', 9, 11) !== '20') failures++
          answer = null
          next()
        })
        socket.on('error', reject)
        socket.on('close', () => resolve())
        next()
      })
    }),
  )
  return { perSecond: options.requests / ((performance.now() - begun) / 1_000), failures }
}

function contentLengthOf(answer: Buffer): number | null {
  const at = ['content-length: ', 'Content-Length: '].map((name) => answer.indexOf(name)).find((at) => at > 0)
  return at === undefined ? null : Number.parseInt(answer.toString('latin1', at + 16, at + 26), 10)
}

export const warmUps = 3

/** Measures ours and the other in turns, so that a noisy minute on the machine hits both. */
export async function interleaved(
  what: string,
  goal: Figure['goal'],
  rounds: number,
  ours: () => Promise<number>,
  other: () => Promise<number>,
  unit = 'requests/s',
): Promise<Figure> {
  const pairs: [number, number][] = []
  // Compiled and cached as after some minutes of work.
  for (let i = 0; i < warmUps; i++) {
    await ours()
    await other()
  }
  for (let round = 0; round < rounds; round++) pairs.push([await ours(), await other()])
  const ratios = pairs.map(([a, b]) => a / b)
  return {
    what,
    goal,
    unit,
    value: median(ratios),
    spread: [Math.min(...ratios), Math.max(...ratios)],
    ours: median(pairs.map(([a]) => a)),
    against: median(pairs.map(([, b]) => b)),
  }
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}

/** As `load`, and what it comes to; a run in which a request failed is no measurement. */
export async function perSecond(options: Parameters<typeof load>[0]): Promise<number> {
  const { perSecond, failures } = await load(options)
  if (failures > 0) throw new Error(`${failures} requests failed`)
  return perSecond
}

export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

/** Starts a program of this project and waits for a line that matches. */
export async function startProgram(
  path: string,
  environment: Record<string, string>,
  ready: RegExp,
): Promise<{ child: ChildProcess; output: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [path], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, LOG_LEVEL: 'error', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // Whatever way this process ends: SIGTERM and Ctrl-C end it through `exit` too (see main.ts).
  const orphan = () => child.kill('SIGKILL')
  process.once('exit', orphan)
  child.once('exit', () => process.off('exit', orphan))
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', (chunk) => {
      output += chunk
      if (ready.test(output)) resolve()
    })
    child.once('exit', (code) => reject(new Error(`${path} ended with ${code}: ${output}`)))
  })
  return {
    child,
    output,
    async stop() {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
