import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { codexTrustWarning } from '../gate/runtime-config/codex-trust.ts'
import { codexHome } from '../runner/codex-home.ts'
import type { Variables } from './connection.ts'

/** The warning for a project that the user's Codex does not trust, so that it will not read its config; null when it does. */
export async function findTrustWarning(directory: string, environment: Variables): Promise<string | null> {
  const homeConfigText = await readFile(join(codexHome(environment), 'config.toml'), 'utf8').catch(() => null)
  // Trust goes by the path without symbolic links.
  return codexTrustWarning({ homeConfigText, projectDirectory: await realpath(directory) })
}
