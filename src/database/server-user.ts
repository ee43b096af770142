import { chown, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EmbeddedPostgresError, wayOut } from './embedded-error.ts'

/** An operating-system user, in the shape that `spawn` takes. */
export interface ServerUser {
  uid: number
  gid: number
}

/** Users that every Unix has and that own nothing; the first one known here is taken. */
const strangers = ['nobody', 'daemon']

/**
 * The user to start PostgreSQL as, because it refuses to run as root: the owner of one of `places`, in their order, or else
 * nobody. Null when this process is not root and simply starts it as itself. It has to be a user of /etc/passwd, or
 * `initdb` gives up.
 */
export async function findServerUser(places: string[]): Promise<ServerUser | null> {
  if (process.getuid?.() !== 0) return null
  const users = new Map<string | number, ServerUser>()
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [name = '', , uid, gid] = line.split(':')
    const user = { uid: Number(uid), gid: Number(gid) }
    if (user.uid > 0 && user.gid >= 0) users.set(name, user).set(user.uid, user)
  }
  for (const place of places) {
    const owner = await stat(place).catch(() => null)
    const user = owner && users.get(owner.uid)
    if (user) return user
  }
  for (const name of strangers) {
    const user = users.get(name)
    if (user) return user
  }
  throw new EmbeddedPostgresError(
    'NOT_PERMITTED',
    `PostgreSQL does not run as root, and there is no user ${strangers.join(' or ')} to run it as. Start the server as an ordinary user. ${wayOut}`,
  )
}

/** Whether `user` may pass through `folder` and all that is above it. Groups are left out: too careful is only inconvenient. */
export async function mayPass(user: ServerUser, folder: string): Promise<boolean> {
  const { uid, mode } = await stat(folder)
  if ((mode & (uid === user.uid ? 0o100 : 0o001)) === 0) return false
  const parent = dirname(folder)
  return parent === folder || mayPass(user, parent)
}

/** Gives what root made in `folder` to the folder's owner, who may start the server next time. */
export async function giveToOwner(folder: string, file: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = await stat(folder)
  await chown(file, uid, gid)
}
