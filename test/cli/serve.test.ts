import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/server.ts'
import { createProject, finished, holdpoint } from './support/command.ts'

vi.setConfig({ testTimeout: 120_000 })

/** What an older Node would say of itself. */
const asOlderNode = [
  '--import',
  `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.19.0'})`,
]

test('serve runs the server, and every other command of this user finds it with nothing set but its folder', async () => {
  await using project = await createProject()
  await using database = await createTestDatabase()
  const dataDir = join(project.home, 'data')
  const environment = project.environment({ HOLDPOINT_DATA_DIR: dataDir })
  const port = String(await freePort())
  await using server = holdpoint(['serve'], {
    environment: { ...environment, DATABASE_URL: database.connectionString, PORT: port, LOG_LEVEL: 'warn' },
    cwd: project.folder,
    // It is the same program when Node is too old, with the Node that is installed beside it.
    nodeOptions: asOlderNode,
  })
  await server.said('Holdpoint is ready')
  expect((await readFile(join(dataDir, 'address'), 'utf8')).trim()).toBe(`http://127.0.0.1:${port}`)
  expect(await finished(['pending'], { environment, cwd: project.folder })).toMatchObject({
    code: 0,
    out: 'Nobody needs you.\n',
  })
  const ran = await finished(['run', '--', process.execPath, '-e', 'process.exit(6)'], {
    environment,
    cwd: project.folder,
    nodeOptions: asOlderNode,
  })
  expect(ran.code).toBe(6)
  server.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  expect(await finished(['pending'], { environment, cwd: project.folder })).toMatchObject({
    code: 69,
    err: expect.stringContaining('nothing listens there'),
  })
})

test('a taken port is told with the way out, and the start after it still shows the admin key', async () => {
  await using project = await createProject()
  await using database = await createTestDatabase()
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const start = (port: number) => ({
    environment: project.environment({
      HOLDPOINT_DATA_DIR: join(project.home, 'data'),
      DATABASE_URL: database.connectionString,
      PORT: String(port),
      LOG_LEVEL: 'fatal',
    }),
    cwd: project.folder,
  })
  const { port } = other.address() as AddressInfo
  const { code, err } = await finished(['serve'], start(port))
  expect(code).toBe(1)
  expect(err).toContain(`port ${port} of 127.0.0.1 is taken. Set PORT to another one`)
  other.close()
  await using server = holdpoint(['serve'], start(await freePort()))
  await server.said('Admin key, shown this once: hp_')
})

test('a configuration that would not start is told whole', async () => {
  await using project = await createProject()
  const { code, err } = await finished(['serve'], {
    environment: project.environment({ PORT: 'x', HOLDPOINT_ENV: 'y', HOLDPOINT_DATA_DIR: project.home }),
    cwd: project.folder,
  })
  expect(code).toBe(78)
  expect(err).toContain('PORT')
  expect(err).toContain('HOLDPOINT_ENV')
})

test('a project cannot name the server that its secrets go to', async () => {
  await using project = await createProject()
  const { out } = await finished(['doctor', '--json'], {
    environment: project.environment(),
    cwd: project.folder,
  })
  const folder = JSON.parse(out).find(({ check }: { check: string }) => check === 'data folder')
  expect(folder.detail).not.toContain(project.folder)
})
