import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { EmbeddedPostgresError, explainError, wayOut } from './embedded-error.ts'
import { findServerUser, giveToOwner, mayPass, type ServerUser } from './server-user.ts'

/** What a data folder knows of its database: the file `postgres.json`, readable by its owner alone. */
export interface DataFolder {
  path: string
  /** The server's own folder: `data`, the log and, where they are needed, copied binaries. */
  home: string
  /** Null: the server runs as this process's own user. */
  user: ServerUser | null
  password: string
  /** The port of the last start. */
  port: number | null
  /** Whether `data` has ever been made. */
  initialised: boolean
}

type Record = Pick<DataFolder, 'home' | 'password' | 'port' | 'initialised'>

/** Where root puts the server's folder when its user cannot reach the data folder, best first. Nothing cleans these up. */
const homesOfRoot = ['/var/lib/holdpoint', '/opt/holdpoint', '/srv/holdpoint']

/** Where the database lives unless its user cannot get there. */
export function homeInside(path: string): string {
  return join(path, 'postgres')
}

export function dataPath(home: string): string {
  return join(home, 'data')
}

/**
 * What is known of the data folder `path`, deciding on a first start where the database will live. That is inside the folder,
 * so that whoever moves, copies or mounts it has everything; only when root starts the server and the user that it is
 * started as cannot enter (a clone under /root), it is one of `homesOfRoot`, and the record leads there.
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  const inside = homeInside(path)
  const record = await readRecord(path)
  const home = record?.home ?? inside
  const user = await findServerUser([dataPath(home), path])
  if (user) await letThrough(user, path)
  const folder: DataFolder = record
    ? { ...record, path, user, home }
    : {
        path,
        user,
        home: user && !(await mayPass(user, path)) ? await homeOutside(user, path) : inside,
        password: randomBytes(24).toString('base64url'),
        port: null,
        initialised: false,
      }
  await checkData(folder, record !== null)
  // The password is on disk before the database that asks for it: a crash in between must not lock us out.
  if (!record) await saveDataFolder(folder)
  if (await mkdir(folder.home, { recursive: true })) await giveToOwner(path, folder.home)
  await chmod(folder.home, 0o711)
  if (folder.home !== inside) await writeFile(join(folder.home, 'belongs-to.txt'), `${path}\n`)
  return folder
}

/** Where the database of `path` is, without making anything. */
export async function findHome(path: string): Promise<string> {
  return (await readRecord(path))?.home ?? homeInside(path)
}

export async function saveDataFolder(folder: DataFolder): Promise<void> {
  const { path, password, port, initialised } = folder
  // A folder that is moved or copied has its own database inside, so only a home elsewhere is named.
  const home = folder.home === homeInside(path) ? null : folder.home
  const file = recordFile(path)
  const unfinished = `${file}.unfinished`
  await writeFile(unfinished, `${JSON.stringify({ home, port, password, initialised }, null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  })
  await giveToOwner(path, unfinished)
  await rename(unfinished, file)
}

function recordFile(path: string): string {
  return join(path, 'postgres.json')
}

async function readRecord(path: string): Promise<(Omit<Record, 'home'> & { home: string | null }) | null> {
  const file = recordFile(path)
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  try {
    const { home, password, port, initialised } = JSON.parse(text)
    if (typeof password !== 'string' || !(home === null || typeof home === 'string'))
      throw new TypeError('no password or home')
    return { home, password, port: Number.isInteger(port) ? port : null, initialised: initialised === true }
  } catch (error) {
    throw new EmbeddedPostgresError(
      'START_FAILED',
      `${file}, which holds the password and the place of the database, cannot be read. Restore it from a backup. ${wayOut}`,
      error,
    )
  }
}

/** The record and the data have to know of each other: starting empty beside lost data would hide the loss. */
async function checkData({ path, home, initialised }: DataFolder, recorded: boolean): Promise<void> {
  const data = dataPath(home)
  const exists = await stat(data).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
  if (exists && !recorded) {
    throw new EmbeddedPostgresError(
      'DATA_MISSING',
      `There is a database in ${data}, but not the file ${recordFile(path)} with its password. Restore that file, or move ${data} away to start with an empty database. ${wayOut}`,
    )
  }
  if (initialised && !exists) {
    throw new EmbeddedPostgresError(
      'DATA_MISSING',
      `The database of ${path} was in ${data} and is gone. Restore it, or remove ${recordFile(path)} to start with an empty one. ${wayOut}`,
    )
  }
}

/** Lets the server's user through our own folder to what is its own. What else is in there is 0600 and stays closed. */
async function letThrough(user: ServerUser, path: string): Promise<void> {
  const { uid, mode } = await stat(path)
  if (uid !== user.uid) await chmod(path, mode | 0o001)
}

async function homeOutside(user: ServerUser, path: string): Promise<string> {
  const name = `${basename(dirname(path))}-${randomBytes(4).toString('hex')}`
  for (const homes of homesOfRoot) {
    try {
      // A strict umask would close it to everybody but root.
      if (await mkdir(homes, { recursive: true })) await chmod(homes, 0o755)
      if (await mayPass(user, homes)) return join(homes, name)
    } catch (error) {
      // Read-only or full; the next one may be better.
      if (explainError(error, homes) === error) throw error
    }
  }
  throw new EmbeddedPostgresError(
    'NOT_PERMITTED',
    `PostgreSQL does not run as root, and the user that it would run as can enter neither ${path} nor ${homesOfRoot.join(', ')}. ` +
      `Start the server as an ordinary user, or point HOLDPOINT_DATA_DIR to a folder that everybody may pass through. ${wayOut}`,
  )
}
