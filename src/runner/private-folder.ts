import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { homedir, hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../gate/environment.ts'

export interface PrivateFolder extends AsyncDisposable {
  readonly path: string
  /** Writes a file that only this user can read. @returns its path */
  write(name: string, text: string): Promise<string>
}

/**
 * A folder for one run, which goes with it: the copies of configs in it hold the agent's credentials and its address of the
 * gate. It is in the user's own state folder and not in a temporary one, where Codex refuses to keep helpers.
 */
export async function createPrivateFolder(environment: Readonly<Environment>): Promise<PrivateFolder> {
  const path = await makeFolder(environment)
  return {
    path,
    async write(name, text) {
      const file = join(path, name)
      await writeFile(file, text, { mode: 0o600, flag: 'wx' })
      return file
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

/** Where Holdpoint keeps what belongs to a user and to no project. */
export function stateFolder(environment: Readonly<Environment>): string {
  const state = environment.XDG_STATE_HOME || join(environment.HOME || homedir(), '.local', 'state')
  return join(state, 'holdpoint')
}

async function makeFolder(environment: Readonly<Environment>): Promise<string> {
  const prefix = `${hostname()}.${process.pid}.`
  const runs = join(stateFolder(environment), 'runs')
  try {
    await mkdir(runs, { recursive: true, mode: 0o700 })
    await removeAbandoned(runs)
    return await privately(join(runs, prefix))
  } catch {
    // A home that cannot be written to, as services have.
    return privately(join(tmpdir(), `holdpoint.${prefix}`))
  }
}

async function privately(prefix: string): Promise<string> {
  const path = await mkdtemp(prefix)
  await chmod(path, 0o700)
  return path
}

/** What runs on this machine left behind that were killed. Links in it are removed, and never what they lead to. */
async function removeAbandoned(runs: string): Promise<void> {
  for (const name of await readdir(runs)) {
    const pid = /^(.+)\.(\d+)\.[^.]+$/.exec(name)
    if (pid?.[1] !== hostname() || isRunning(Number(pid[2]))) continue
    await rm(join(runs, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
