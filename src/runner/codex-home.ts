import { cp, lstat, mkdir, readdir, rename, symlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The folder that Codex keeps its config, its login and its sessions in. */
export function codexHome(environment: Readonly<Record<string, string | undefined>>): string {
  return environment.CODEX_HOME || join(environment.HOME || homedir(), '.codex')
}

/** Codex's background server serves one home; a private one must not be answered by it, nor share its scratch files. */
const notShared = /^(app-server-.*|\.tmp|tmp|.*\.sock)$/

/**
 * Links everything of the user's home into a private one, apart from what is `written` there anew. Codex writes through links
 * (seen with 0.171), so login, sessions and history are the user's.
 * @returns what brings home, at the end, what is no link.
 */
export async function shareHome(
  home: string,
  folder: string,
  written: ReadonlySet<string>,
): Promise<() => Promise<void>> {
  // A first session would otherwise make it in the private home, where nobody could resume it while this one lasts.
  await mkdir(join(home, 'sessions'), { recursive: true, mode: 0o700 })
  const shared = new Set((await readdir(home)).filter((name) => !written.has(name) && !notShared.test(name)))
  for (const name of shared) await symlink(join(home, name), join(folder, name))

  /** A first login, say, or a file that Codex replaced. What another run has brought there meanwhile stays. */
  return async () => {
    const brought = new Set<string>()
    // In this order a database comes before the files that go with it.
    for (const name of (await readdir(folder)).sort()) {
      const file = join(folder, name)
      const found = await lstat(file)
      if (written.has(name) || notShared.test(name) || found.isSymbolicLink()) continue
      const isThere = (await lstat(join(home, name)).catch(() => null)) !== null
      // The log of one database next to another of that name would be taken for its own.
      const database = /^(.+)-(?:wal|shm|journal)$/.exec(name)?.[1]
      const isOurs = database === undefined ? !isThere || shared.has(name) : brought.has(database)
      if (!isOurs || (found.isDirectory() && isThere)) continue
      await move(file, join(home, name))
      brought.add(name)
    }
  }
}

/** Also from one file system to another, as a home may be spread over several. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await cp(from, to, { recursive: true })
  }
}
