import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'
import { createProject, finished, type Project } from './support/command.ts'

vi.setConfig({ testTimeout: 120_000 })

let project: Project
beforeAll(async () => {
  project = await createProject()
})
afterAll(() => project[Symbol.asyncDispose]())

async function examine(environment: Record<string, string>) {
  const { code, out } = await finished(['doctor', '--json'], {
    environment: project.environment(environment),
    cwd: project.folder,
  })
  const findings: { check: string; state: string; detail: string; advice?: string }[] = JSON.parse(out)
  return { code, broken: findings.filter(({ state }) => state === 'broken'), findings }
}

const here = (server: TestServer) => ({ HOLDPOINT_DATA_DIR: server.config.dataDir })

describe('doctor', () => {
  test('finds nothing broken where everything works', async () => {
    await using server = await startServer()
    const { code, broken, findings } = await examine({
      ...here(server),
      DATABASE_URL: server.connectionString,
    })
    expect(broken).toEqual([])
    expect(code).toBe(0)
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining([
        'node',
        'config',
        'data folder',
        'database',
        'migrations',
        'jobs',
        'server',
        'key',
        'gate',
      ]),
    )
  })

  test('says that agents on this machine cannot reach the gate, and what to do', async () => {
    await using server = await startServer({ environment: { PUBLIC_URL: 'http://127.0.0.1:9' } })
    const { code, broken } = await examine(here(server))
    expect(code).toBe(1)
    expect(broken).toEqual([
      {
        check: 'gate',
        state: 'broken',
        detail: expect.stringContaining('http://127.0.0.1:9/api/v1/elicitations cannot be reached'),
        advice: expect.stringContaining('PUBLIC_URL'),
      },
    ])
  })

  test('tells every fault of the configuration, and a key that others can read', async () => {
    await using server = await startServer()
    await chmod(join(server.config.dataDir, 'launcher-key'), 0o644)
    const { code, broken } = await examine({ ...here(server), PORT: 'many', HOLDPOINT_ENV: 'moon' })
    expect(code).toBe(1)
    expect(broken.map(({ check }) => check)).toEqual(['config', 'config', 'data folder'])
  })

  test('tells a server that is not there from a key that is wrong', async () => {
    await using server = await startServer()
    const away = await examine({ HOLDPOINT_URL: 'http://127.0.0.1:9', HOLDPOINT_API_KEY: adminKey })
    expect(away.broken.map(({ check }) => check)).toEqual(['server', 'key'])
    const wrong = await examine({ HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: 'wrong' })
    expect(wrong.broken).toEqual([
      expect.objectContaining({ check: 'key', detail: expect.stringContaining('does not know the key') }),
    ])
  })

  test('tells a database that is not there from one that is not migrated', async () => {
    await using server = await startServer()
    await using empty = await createTestDatabase({ empty: true })
    const gone = new URL(empty.connectionString)
    gone.port = '9'
    const unreachable = await examine({ ...here(server), DATABASE_URL: gone.href })
    expect(unreachable.broken).toEqual([expect.objectContaining({ check: 'database' })])
    expect(unreachable.broken[0]!.detail).not.toContain(gone.password)
    const { broken, findings } = await examine({ ...here(server), DATABASE_URL: empty.connectionString })
    expect(broken).toEqual([])
    expect(findings).toContainEqual(expect.objectContaining({ check: 'migrations', state: 'warning' }))
  })
})
