import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { serverFile } from '../bridge/support/process.ts'
import { findProgram, startMockModel } from '../runner/support/real-cli.ts'
import { createSession } from '../support/ask.ts'
import { respond } from '../support/mcp.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { createProject, finished, holdpoint, type Project } from './support/command.ts'
import { sessionThat } from './support/session.ts'

/**
 * The real runtimes, where this machine has them: on the PATH, or named by HOLDPOINT_TEST_CLAUDE and HOLDPOINT_TEST_CODEX. They are
 * no part of the project, and nothing here installs them, needs an account or leaves the machine.
 */
vi.setConfig({ testTimeout: 180_000 })

const claude = findProgram('claude', 'HOLDPOINT_TEST_CLAUDE')
const codex = findProgram('codex', 'HOLDPOINT_TEST_CODEX')

let server: TestServer
let project: Project
beforeAll(async () => {
  server = await startServer({ environment: { HOLDPOINT_GATE_ACCESS: 'capability' } })
  project = await createProject()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await project[Symbol.asyncDispose]()
})

const entry = { command: process.execPath, args: [serverFile('legacy')] }

function environment(more: Record<string, string> = {}) {
  return project.environment({
    HOLDPOINT_DATA_DIR: server.config.dataDir,
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...more,
  })
}

function didNotRun(program: string, variable: string): void {
  test(`DID NOT RUN: there is no ${program} on the PATH, and ${variable} names none`, () => {
    console.warn(
      `The tests with the real ${program} did not run: it is not on the PATH. Name it by ${variable} to run them.`,
    )
  })
}

describe('the real Claude Code', () => {
  if (claude === null) return didNotRun('claude', 'HOLDPOINT_TEST_CLAUDE')

  test('reads the config that was prepared, and starts its servers from it, behind the bridge too', async () => {
    await writeFile(join(project.folder, '.mcp.json'), JSON.stringify({ mcpServers: { tickets: entry } }))
    const { id } = await createSession(server)
    for (const options of [[], ['--bridge']]) {
      const prepared = await finished(['prepare', '--session', id, ...options], {
        environment: environment(),
        cwd: project.folder,
      })
      expect(prepared.code).toBe(0)
      await mkdir(join(project.folder, '.claude'), { recursive: true })
      await writeFile(
        join(project.folder, '.claude', 'settings.local.json'),
        '{"enableAllProjectMcpServers": true}',
      )
      const { stdout } = await promisify(execFile)(claude, ['mcp', 'list'], {
        cwd: project.folder,
        env: environment() as NodeJS.ProcessEnv,
      })
      expect(stdout).toMatch(/^tickets: .*legacy\.ts/m)
      if (options.length > 0) expect(stdout).toMatch(/bridge --server=tickets/)
    }
  })

  test('asks a person for permission, and then what its server asks it natively, and goes by both answers', async () => {
    using model = await startMockModel('delete_tenant', { tenant: 'acme' })
    const config = join(project.folder, 'servers.json')
    await writeFile(config, JSON.stringify({ mcpServers: { tickets: { ...entry, alwaysLoad: true } } }))
    const command = [claude, '-p', '--strict-mcp-config', '--mcp-config', config, '--', 'Delete acme.']
    await using running = holdpoint(
      ['run', '--runtime', 'claude-code', '--approve-tools', '--', ...command],
      {
        environment: environment({ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'none' }),
        cwd: project.folder,
      },
    )
    const { pendingElicitations: permission } = await sessionThat(
      server,
      ({ blockedOnElicitation }) => blockedOnElicitation,
    )
    expect(permission).toMatchObject([
      { toolName: 'mcp__tickets__delete_tenant', serverName: "the agent's permission prompt" },
    ])
    await respond(server, permission[0]!.requestId, { action_type: 'accept' })

    const { pendingElicitations: question } = await sessionThat(
      server,
      ({ pendingElicitations: [first] }) => first?.message === 'Delete the tenant acme?',
    )
    expect(question).toMatchObject([{ serverName: 'tickets' }])
    await respond(server, question[0]!.requestId, {
      action_type: 'accept',
      content: { confirm: true, region: 'eu' },
    })
    expect(await running.exited).toBe(0)
    expect(running.out()).toContain('It is done.')
    const result = JSON.parse(JSON.parse(model.results[0]!)[0].text)
    expect(result).toEqual({ action: 'accept', content: { confirm: true, region: 'eu' } })
  })
})

describe('the real Codex', () => {
  if (codex === null) return didNotRun('codex', 'HOLDPOINT_TEST_CODEX')

  test.each([[[]], [['--bridge']]])('reads the private home of a run: %j', async (options) => {
    const home = join(project.home, '.codex')
    await mkdir(home, { recursive: true })
    await writeFile(
      join(home, 'config.toml'),
      `[mcp_servers.tickets]\ncommand = ${JSON.stringify(entry.command)}\nargs = ${JSON.stringify(entry.args)}\n`,
    )
    const { code, out } = await finished(
      ['run', '--runtime', 'codex', ...options, '--', codex, 'mcp', 'list', '--json'],
      { environment: environment(), cwd: project.folder },
    )
    expect(code).toBe(0)
    const [{ name, transport, tool_timeout_sec }] = JSON.parse(out)
    expect(name).toBe('tickets')
    expect(transport.env).toMatchObject({
      ELICITATION_PREFER_HTTP_FALLBACK: 'true',
      ELICITATION_TTL_MS: '3600000',
    })
    expect(tool_timeout_sec).toBe(65 * 60)
    expect(transport.args.at(-1)).toBe(entry.args[0])
    expect(transport.args.includes('--server=tickets')).toBe(options.length > 0)
  })
})
