import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'

const fileOf = (server: TestServer) => join(server.config.dataDir, 'launcher-key')
const read = async (file: string) => (await readFile(file, 'utf8')).trim()
const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8)

async function launchers(server: TestServer): Promise<{ name: string; revokedAt: string | null }[]> {
  const { apiKeys } = await server.graphql('{ apiKeys { name role revokedAt } }')
  return apiKeys.filter(({ role }: { role: string }) => role === 'LAUNCHER')
}

describe('the launcher key of a data folder', () => {
  test('is there after a start, with the address, for this user alone; it launches and does not answer', async () => {
    await using server = await startServer()
    const key = await read(fileOf(server))
    expect(await modeOf(fileOf(server))).toBe('600')
    expect(await modeOf(join(server.config.dataDir, 'address'))).toBe('600')
    expect(await read(join(server.config.dataDir, 'address'))).toBe(server.url)
    const { createSession } = await server.graphql(
      `mutation { createSession(input: { title: "Mine" }) { __typename } }`,
      {},
      key,
    )
    expect(createSession.__typename).toBe('CreateSessionSuccess')
    const { body } = await server.graphqlRaw(
      `mutation { respondToElicitation(input: { requestId: "x", action: ACCEPT }) { __typename } }`,
      {},
      key,
    )
    expect(body.errors[0].extensions.code).toBe('FORBIDDEN')
  })

  test('is kept over a restart, and taken back from others who could read it', async () => {
    await using database = await createTestDatabase()
    const dataDir = `/tmp/holdpoint-test-kept-${process.pid}`
    const start = () =>
      startServer({
        connectionString: database.connectionString,
        environment: { HOLDPOINT_DATA_DIR: dataDir },
      })
    let key: string
    {
      const first = await start()
      key = await read(fileOf(first))
      await first.app.close()
    }
    await chmod(join(dataDir, 'launcher-key'), 0o644)
    await using second = await start()
    expect(await read(fileOf(second))).toBe(key)
    expect(await modeOf(fileOf(second))).toBe('600')
    expect(await launchers(second)).toHaveLength(1)
  })

  test.each([
    ['lost', (file: string) => rm(file)],
    ['empty', (file: string) => writeFile(file, '')],
    [
      'of another database',
      (file: string) => writeFile(file, 'hp_abcdefgh_0123456789012345678901234567890\n'),
    ],
  ])('is replaced when it is %s, and the old one revoked', async (_, spoil) => {
    await using database = await createTestDatabase()
    const dataDir = `/tmp/holdpoint-test-lost-${process.pid}`
    const start = () =>
      startServer({
        connectionString: database.connectionString,
        environment: { HOLDPOINT_DATA_DIR: dataDir },
      })
    const first = await start()
    const old = await read(fileOf(first))
    await first.app.close()
    await spoil(join(dataDir, 'launcher-key'))
    await using second = await start()
    expect(await read(fileOf(second))).not.toBe(old)
    expect((await launchers(second)).map(({ revokedAt }) => revokedAt === null).sort()).toEqual([false, true])
    expect((await second.graphqlRaw('{ viewer { name } }', {}, old)).status).toBe(401)
  })

  test('a folder that takes none does not keep the server from starting', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'holdpoint-test-stubborn-'))
    await mkdir(join(dataDir, 'launcher-key'))
    await using server = await startServer({ environment: { HOLDPOINT_DATA_DIR: dataDir } })
    expect(server.logLines.join('')).toContain('takes no launcher key')
    expect((await server.graphqlRaw('{ viewer { name } }')).status).toBe(200)
  })
})
