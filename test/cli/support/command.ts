import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'

const root = join(import.meta.dirname, '..', '..', '..')
export const binary = join(root, 'bin', 'holdpoint.js')

export interface Running extends AsyncDisposable {
  pid: number
  out(): string
  err(): string
  /** Settles once a text has appeared on either side. */
  said(text: string | RegExp): Promise<void>
  /** As a shell tells it: 128 + n for signal n. */
  exited: Promise<number>
  kill(signal: NodeJS.Signals): void
}

export interface RunOptions {
  environment: Record<string, string | undefined>
  cwd: string
  nodeOptions?: string[]
}

/** The real program, as a person starts it. Whatever it still is at the end of a test, it is ended. */
export function holdpoint(args: string[], { environment, cwd, nodeOptions = [] }: RunOptions): Running {
  const child = spawn(process.execPath, [...nodeOptions, binary, ...args], {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk) => (texts.out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk) => (texts.err += chunk))
  // `close`: everything that it printed has been read.
  const exited = once(child, 'close').then(
    ([code, signal]) => (code as number | null) ?? 128 + constants.signals[signal as NodeJS.Signals],
  )
  return {
    pid: child.pid!,
    out: () => texts.out,
    err: () => texts.err,
    said: (text) => vi.waitFor(() => expect(texts.out + texts.err).toMatch(text), { timeout: 60_000 }),
    exited,
    kill: (signal) => child.kill(signal),
    async [Symbol.asyncDispose]() {
      // SIGTERM first: it takes an agent that it runs along.
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 15_000)
      await exited
      clearTimeout(timer)
    },
  }
}

/** A command to its end. */
export async function finished(
  args: string[],
  options: RunOptions,
): Promise<{ code: number; out: string; err: string }> {
  await using running = holdpoint(args, options)
  const code = await running.exited
  return { code, out: running.out(), err: running.err() }
}

export interface Project extends AsyncDisposable {
  /** The folder that is worked in. */
  folder: string
  home: string
  /** An environment of its own for a user who has set nothing but what is given. */
  environment(more?: Record<string, string | undefined>): Record<string, string | undefined>
}

/** A user's home and a project in it, empty. */
export async function createProject(): Promise<Project> {
  const home = await mkdtemp(join(tmpdir(), 'holdpoint-test-home-'))
  const folder = await mkdtemp(join(home, 'project-'))
  return {
    folder,
    home,
    environment: (more = {}) => ({ PATH: process.env.PATH, HOME: home, ...more }),
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  }
}

/** Settles once a process has ended; fails when it does not. */
export async function gone(pid: number): Promise<void> {
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 30_000 })
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
