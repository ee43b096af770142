import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { addressFile, launcherKeyFile } from '../auth/launcher-key.ts'
import { parsePublicUrl } from '../gate/address.ts'
import { exitCodes, Problem } from './problem.ts'

/** The variables of the process, as the entry read them. */
export type Variables = Readonly<Record<string, string | undefined>>

export interface Connection {
  url: string
  apiKey: string
  /** `launcher`: out of the data folder of a server on this machine, which may launch but not answer. */
  key: 'own' | 'launcher'
}

const defaultUrl = 'http://127.0.0.1:4010'

/**
 * The folder of the server on this machine: named, or the one beside the code, where `npm start` puts it. Never one in
 * the folder that an agent works in: a project must not be able to name the server that its secrets are sent to.
 */
export function dataFolder(environment: Variables): string {
  return environment.HOLDPOINT_DATA_DIR?.trim() || join(import.meta.dirname, '..', '..', '.holdpoint')
}

/** Which server to talk to, and with which key. */
export async function findConnection(environment: Variables): Promise<Connection> {
  const folder = dataFolder(environment)
  const local = await readLine(join(folder, addressFile))
  const given = environment.HOLDPOINT_URL?.trim()
  const url = given ? addressOf(given) : (local ?? defaultUrl)
  const own = environment.HOLDPOINT_API_KEY?.trim()
  if (own) return { url, apiKey: own, key: 'own' }
  // The key of this machine's server is sent to nobody else.
  if (given && (local === null || URL.parse(url)?.origin !== URL.parse(local)?.origin))
    throw new Problem(
      `HOLDPOINT_URL is set and HOLDPOINT_API_KEY is not. Set HOLDPOINT_API_KEY to a key of ${url}.`,
      exitCodes.notAllowed,
    )
  const launcher = await readLine(join(folder, launcherKeyFile))
  if (launcher === null)
    throw new Problem(
      `There is no key to talk to the server with: HOLDPOINT_API_KEY is not set, and ${folder} holds no launcher key that this user can read. ` +
        'Start the server on this machine first (holdpoint serve), say where its data is (HOLDPOINT_DATA_DIR), or set HOLDPOINT_URL and HOLDPOINT_API_KEY.',
      exitCodes.notAllowed,
    )
  return { url, apiKey: launcher, key: 'launcher' }
}

/** For what no launcher key may do: what every program of this user can read must not be able to answer. */
export function requireOwnKey(connection: Connection, what: string, role: string): void {
  if (connection.key === 'own') return
  throw new Problem(
    `${what} needs a key of your own: the launcher key of this machine can be read by every agent that runs here. ` +
      `Set HOLDPOINT_API_KEY to a key of the role ${role}. The admin key was shown at the first start of the server; with it, ` +
      `"holdpoint keys create NAME --role ${role}" or the page Keys of the dashboard makes another one.`,
    exitCodes.notAllowed,
  )
}

function addressOf(text: string): string {
  const parsed = parsePublicUrl(text)
  if (parsed.ok) return parsed.url
  throw new Problem(`HOLDPOINT_URL: ${parsed.problem}.`, exitCodes.usage)
}

async function readLine(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim() || null
  } catch {
    // Not there, or not for this user: either way there is nothing to use.
    return null
  }
}
