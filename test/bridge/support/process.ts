import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect } from 'vitest'
import { connectMcp, patienceMs } from '../../support/mcp.ts'

export const cli = join(import.meta.dirname, '..', '..', '..', 'bin', 'holdpoint.js')
export const serverFile = (name: 'legacy' | 'modern') =>
  join(import.meta.dirname, '..', 'servers', `${name}.ts`)

/** For tests that start processes, several of them one after the other, on a machine that is busy. */
export const processTestMs = 120_000

/** The variables that an MCP server of a session is given, and nothing else of ours. */
export function sessionVariables(
  url: string,
  sessionId: string,
  more: Record<string, string> = {},
): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    ELICITATION_REQUEST_URL: `${url}/api/v1/elicitations`,
    ELICITATION_POLL_URL: `${url}/api/v1/elicitations`,
    ELICITATION_SESSION_ID: sessionId,
    ...more,
  }
}

/** The SDK's client, which cannot be asked anything, in front of a server behind the bridge. */
export async function connectBridged(
  environment: Record<string, string>,
  args: string[] = ['--server', 'tickets'],
) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, 'bridge', ...args, '--', process.execPath, serverFile('legacy')],
    env: environment,
    stderr: 'ignore',
  })
  const client = await connectMcp(transport)
  return {
    client,
    pid: transport.pid!,
    closed: new Promise<void>((resolve) => {
      client.onclose = resolve
    }),
  }
}

export interface Spawned extends Disposable {
  process: ChildProcessWithoutNullStreams
  /** The lines of its stdout. */
  lines: string[]
  errors: string[]
  send(message: unknown): void
  line(count: number): Promise<any>
  exited: Promise<number | null>
}

/** A command of the CLI, with its ends in the hands of a test. */
export function spawnCli(args: string[], environment: Record<string, string>): Spawned {
  const child = spawn(process.execPath, [cli, ...args], { env: environment, stdio: 'pipe' })
  const [lines, errors]: [string[], string[]] = [[], []]
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  child.stdin.on('error', () => {})
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  return {
    process: child,
    lines,
    errors,
    exited,
    send: (message) =>
      child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    async line(count) {
      await expect.poll(() => lines.length, { timeout: patienceMs }).toBeGreaterThanOrEqual(count)
      return JSON.parse(lines[count - 1]!)
    },
    [Symbol.dispose]() {
      child.kill('SIGKILL')
    },
  }
}

/** Whether a process is gone, as soon as it is. */
export async function gone(pid: number): Promise<void> {
  await expect
    .poll(
      () => {
        try {
          process.kill(pid, 0)
          return 'alive'
        } catch {
          return 'gone'
        }
      },
      { timeout: patienceMs },
    )
    .toBe('gone')
}
