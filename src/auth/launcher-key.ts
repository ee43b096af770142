import { chmod, mkdir, readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { digest } from '../base/ids.ts'
import { holderNameCharactersMax } from '../base/limits.ts'
import { writePrivateFile } from '../base/private-file.ts'
import type { ApiKey } from '../database/generated/prisma/client.ts'
import { sql } from '../database/sql.ts'
import { systemActor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import { identify, insertKey, tellRevoked } from './keys.ts'

/** What a command line on the same machine finds in the data folder; only the server's own user can read it. */
export const launcherKeyFile = 'launcher-key'
export const addressFile = 'address'

/**
 * Sees to it that the data folder holds a key with which agents can be launched from this machine, and nothing answered.
 * The file is the only place of that key, so one that was lost is replaced and revoked.
 */
export async function ensureLauncherKey(journal: Journal, dataDir: string): Promise<void> {
  const file = join(dataDir, launcherKeyFile)
  const name = nameOf(dataDir)
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await journal.write(async (entry) => {
    // Two processes may start on one folder at once: the second finds the key that the first has written.
    await entry.query(sql`lock table api_key in share row exclusive mode`)
    const now = journal.now()
    const kept = await readSecret(file)
    const known = kept === null ? null : await identify(entry, kept, now)
    if (known?.role === 'launcher' && known.sessionId === null) return chmod(file, 0o600)
    const lost = await entry.query<ApiKey>(sql`
      update api_key set revoked_at = ${now} where name = ${name} and role = 'launcher' and revoked_at is null returning *`)
    for (const key of lost) tellRevoked(entry, key, systemActor, now)
    const { secret } = await insertKey(entry, { name, role: 'launcher' }, systemActor, now)
    await writePrivateFile(file, `${secret}\n`)
  })
}

/** Tells the same command line where the server listens. */
export function writeAddress(dataDir: string, url: string): Promise<void> {
  return writePrivateFile(join(dataDir, addressFile), `${url}\n`)
}

const namePrefix = 'local launcher '

/** Whether a key is kept in a data folder: one that takes its place elsewhere would be of no use to whoever reads it there. */
export function isLauncherKey({
  name,
  role,
  sessionId,
}: Pick<ApiKey, 'name' | 'role' | 'sessionId'>): boolean {
  return role === 'launcher' && sessionId === null && name.startsWith(namePrefix)
}

/** One name for each folder of each machine, so that replacing a key revokes no other's. */
function nameOf(dataDir: string): string {
  const name = `${namePrefix}${hostname()}:${dataDir}`
  return name.length <= holderNameCharactersMax
    ? name
    : `${name.slice(0, holderNameCharactersMax - 9)} ${digest(name).slice(0, 8)}`
}

async function readSecret(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim() || null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
