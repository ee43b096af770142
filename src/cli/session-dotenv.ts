import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { dotenvBytesMax } from '../base/limits.ts'
import { parseDotenv } from '../gate/dotenv.ts'
import type { Environment } from '../gate/environment.ts'

export interface SessionDotenv {
  /** To be sent to the server; null when there is none that counts. */
  text: string | null
  variables: Environment
  warnings: string[]
}

/** The `.env` of the folder that an agent works in. One that cannot be read is none: it must not cost the session. */
export async function readDotenv(folder: string): Promise<SessionDotenv> {
  const text = await read(join(folder, '.env'))
  const { variables, warnings } = parseDotenv(text ?? '')
  // Beyond the limit the parser has skipped it whole, with a warning.
  return { text: warnings.length > 0 ? null : text, variables, warnings }
}

async function read(path: string): Promise<string | null> {
  const file = await open(path).catch(() => null)
  if (file === null) return null
  try {
    // One byte more than the limit is enough to see that it is passed.
    const buffer = Buffer.alloc(dotenvBytesMax + 1)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    const lines = buffer.subarray(0, bytesRead).toString('utf8').split('\n')
    // No environment can hold a NUL, and no request either.
    return lines.filter((line) => !line.includes('\0')).join('\n')
  } catch {
    // A folder by that name, say.
    return null
  } finally {
    await file.close()
  }
}
