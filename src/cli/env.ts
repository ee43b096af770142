import { resolve } from 'node:path'
import { shellQuoted } from '../runner/command-line.ts'
import { createApi } from './api.ts'
import { findConnection } from './connection.ts'
import { findSession, prepareLaunch } from './launch.ts'
import { exitCodes } from './problem.ts'
import { readDotenv } from './session-dotenv.ts'
import { sayJson, type Terminal } from './terminal.ts'

/** Prints the spawn environment, for a shell to take: `eval "$(holdpoint env --session ID)"`. */
export async function env(
  options: { session: string; json?: boolean },
  folder: string | undefined,
  terminal: Terminal,
): Promise<number> {
  const api = createApi(await findConnection(terminal.environment))
  const { id: sessionId } = await findSession(api, options.session)
  const dotenv = await readDotenv(resolve(terminal.cwd, folder ?? '.'))
  const launch = await prepareLaunch(api, { sessionId, runtime: null, mcpConfig: null, dotenv })
  if (options.json) sayJson(terminal, Object.fromEntries(launch.env.map(({ name, value }) => [name, value])))
  else for (const { name, value } of launch.env) terminal.say(`export ${name}=${shellQuoted(value)}`)
  for (const warning of launch.warnings) terminal.note(`holdpoint: ${warning}`)
  return exitCodes.done
}
