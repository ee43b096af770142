import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { App } from './app.ts'
import { signInLinkMs } from './auth/sign-in.ts'
import { writePrivateFile } from './base/private-file.ts'
import type { Config } from './config.ts'

/** Says where the server is and how to sign in. Links go to a terminal or into a file, never into a journal. */
export async function announce(app: App, config: Config): Promise<void> {
  const say = (text: string) => process.stdout.write(`${text}\n`)
  const linkMinutes = signInLinkMs / 60_000
  say(`\nHoldpoint is ready at ${app.publicUrl}`)
  if (app.newAdminKey) say(`Admin key, shown this once: ${app.newAdminKey}`)
  if (app.signInLink) {
    if (process.stdout.isTTY) say(`Sign in within ${linkMinutes} minutes: ${app.signInLink}`)
    else {
      const file = join(config.dataDir, 'sign-in-link')
      await mkdir(config.dataDir, { recursive: true, mode: 0o700 })
      await writePrivateFile(file, `${app.signInLink}\n`)
      say(`A sign-in link, good once and for ${linkMinutes} minutes, is in ${file}`)
    }
  } else say('There is no valid admin key to sign in with. Set HOLDPOINT_ADMIN_KEY and start again.')
  if (config.databaseUrl === null)
    say(
      'The embedded database ends with this process: a restart ends the waits of agents. Set DATABASE_URL to change that.',
    )
  say('')
}
