import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startDemo } from '../demo/demo.ts'
import { removeDataFolder } from '../src/database/embedded.ts'
import { freePort } from './support/server.ts'

it('the demo carries a real request to its end, on a server that it starts and stops by itself', {
  timeout: 120_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdpoint-demo-'))
  const said: string[] = []
  await startDemo({
    environment: {
      PATH: process.env.PATH,
      PORT: String(await freePort()),
      HOLDPOINT_DATA_DIR: folder,
      HOLDPOINT_ADMIN_KEY: 'an-admin-key-for-the-demo',
    },
    answer: 'accept',
    say: (text) => said.push(text),
  })
  expect(said.join('\n')).toContain('PERMANENTLY DELETE')
  expect(said.join('\n')).toContain('Tenant deleted.')
  expect(said.join('\n')).toContain('was called: DELETE')
  // It takes its database along when it goes, and does not complain of it.
  expect(said.join('\n')).not.toContain('connection was lost')
  await removeDataFolder(folder)
})
