import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'vitest'
import { patienceMs } from '../../support/mcp.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'examples')

export function exampleFile(name: string): string {
  return join(folder, name)
}

/** An example that runs as people run it. */
export interface Running extends AsyncDisposable {
  /** Everything that it has printed. */
  output(): string
  /** Waits until it has printed something. */
  prints(text: string | RegExp): Promise<void>
  press(keys: string): void
  stop(): void
  exited: Promise<number | null>
}

export function runExample(name: string, args: string[], environment: Record<string, string>): Running {
  const child = spawn(process.execPath, [exampleFile(name), ...args], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: 'pipe',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  child.stdin.on('error', () => {})
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  return {
    output: () => output,
    prints: (text) => expect.poll(() => output, { timeout: patienceMs }).toMatch(text),
    press: (keys) => void child.stdin.write(keys),
    stop: () => void child.kill('SIGTERM'),
    exited,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await exited
    },
  }
}
