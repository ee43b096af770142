import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'smol-toml'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSession, type TestSession } from '../support/ask.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { binary, createProject, finished, type Project } from './support/command.ts'
import { timeline } from './support/session.ts'

vi.setConfig({ testTimeout: 120_000 })

let server: TestServer
let session: TestSession
beforeAll(async () => {
  server = await startServer({ environment: { HOLDPOINT_GATE_ACCESS: 'mixed' } })
  session = await createSession(server)
})
afterAll(() => server[Symbol.asyncDispose]())

function cli(project: Project, args: string[], cwd = project.folder) {
  return finished(args, {
    environment: project.environment({ HOLDPOINT_DATA_DIR: server.config.dataDir }),
    cwd,
  })
}

const json = `{
  // mine
  "mcpServers": {
    "tickets": {"command": "node", "args": ["tickets.js"], "env": {"TOKEN": "s3cret"}},
  },
}
`
const toml = `# mine
[mcp_servers.tickets]
command = "node"
`

describe('prepare', () => {
  test('writes the gate into the configs that it finds, leaves the rest as it was, and undoes it', async () => {
    await using project = await createProject()
    const files = {
      json: join(project.folder, '.mcp.json'),
      toml: join(project.folder, '.codex', 'config.toml'),
    }
    await mkdir(join(project.folder, '.codex'))
    await writeFile(files.json, json)
    await writeFile(files.toml, toml)
    await chmod(files.json, 0o640)

    const done = await cli(project, ['prepare', '--session', session.slug])
    expect(done.code).toBe(0)
    expect(done.err).toContain('Codex does not trust')
    const prepared = await readFile(files.json, 'utf8')
    expect(prepared).toContain('// mine')
    expect(prepared).toContain('"TOKEN": "s3cret"')
    expect(prepared).toMatch(/"ELICITATION_REQUEST_URL": "http:.*\/api\/v1\/gate\/[\w-]+\/elicitations"/)
    expect(prepared).toContain(`"ELICITATION_SESSION_ID": "${session.id}"`)
    expect(((await stat(files.json)).mode & 0o777).toString(8)).toBe('640')
    const codex: any = parse(await readFile(files.toml, 'utf8'))
    expect(codex.mcp_servers.tickets).toMatchObject({
      tool_timeout_sec: 3_900,
      env: { ELICITATION_SESSION_ID: session.id },
    })

    // A second time goes on from the first, and what it is undone to is what was there before both.
    expect((await cli(project, ['prepare', '--session', session.id])).code).toBe(0)
    expect(await readFile(files.json, 'utf8')).not.toBe(prepared)
    const undone = await cli(project, ['prepare', '--undo', project.folder], project.home)
    expect(undone).toMatchObject({ code: 0, out: expect.stringContaining('restored') })
    expect(await readFile(files.json, 'utf8')).toBe(json)
    expect(await readFile(files.toml, 'utf8')).toBe(toml)
    expect((await readdir(project.folder)).sort()).toEqual(['.codex', '.mcp.json'])
    expect((await cli(project, ['prepare', '--undo'])).out).toContain('was prepared by this user')
  })

  test('shows with --dry-run what would change, without the secrets, and writes nothing', async () => {
    await using project = await createProject()
    const file = join(project.folder, '.mcp.json')
    await writeFile(file, json)
    const { code, out } = await cli(project, ['prepare', '--session', session.id, '--dry-run'])
    expect(code).toBe(0)
    expect(out).toContain('would be rewritten')
    expect(out).toMatch(/^ {2}- .*"TOKEN": "\[redacted\]"\}\},$/m)
    expect(out).toMatch(/^ {2}\+ .*ELICITATION_REQUEST_URL/m)
    expect(out).toContain('/api/v1/gate/[redacted]')
    expect(out).not.toContain('s3cret')
    expect(await readFile(file, 'utf8')).toBe(json)
  })

  test('makes no address in a dry run', async () => {
    await using project = await createProject()
    await writeFile(join(project.folder, '.mcp.json'), json)
    const { id } = await createSession(server)
    const events = async () => (await timeline(server, id)).map(({ type }) => type)
    const before = await events()
    await cli(project, ['prepare', '--session', id, '--dry-run'])
    expect(await events()).toEqual(before)
    await cli(project, ['prepare', '--session', id])
    expect(await events()).toEqual([...before, 'gate.token_created', 'gate.token_created', 'launch.prepared'])
  })

  test('puts the bridge before every stdio server of every config once, however often', async () => {
    await using project = await createProject()
    const claude = join(project.folder, '.mcp.json')
    const codex = join(project.folder, '.codex', 'config.toml')
    await mkdir(join(project.folder, '.codex'))
    await writeFile(
      claude,
      JSON.stringify({
        mcpServers: {
          one: { command: 'node', args: ['one.js', '--', 'bridge'] },
          two: { command: 'two' },
          far: { type: 'http', url: 'https://mcp.example.com' },
          own: { command: 'holdpoint', args: ['mcp'] },
        },
      }),
    )
    await writeFile(codex, '[mcp_servers.one]\ncommand = "node"\nargs = ["one.js"]\n')
    for (let times = 0; times < 2; times++)
      expect((await cli(project, ['prepare', '--bridge', '--session', session.id])).code).toBe(0)

    const bridge = (name: string) => [binary, 'bridge', `--server=${name}`, '--']
    const { one, two, far, own } = JSON.parse(await readFile(claude, 'utf8')).mcpServers
    expect(one).toMatchObject({
      command: process.execPath,
      args: [...bridge('one'), 'node', 'one.js', '--', 'bridge'],
      env: { ELICITATION_SESSION_ID: session.id },
    })
    expect(two).toMatchObject({ command: process.execPath, args: [...bridge('two'), 'two'] })
    expect(far).toEqual({ type: 'http', url: 'https://mcp.example.com' })
    expect(own).toMatchObject({ command: 'holdpoint', args: ['mcp'] })
    const inCodex: any = parse(await readFile(codex, 'utf8'))
    expect(inCodex.mcp_servers.one.args).toEqual([...bridge('one'), 'node', 'one.js'])

    expect((await cli(project, ['prepare', '--undo'])).code).toBe(0)
    expect(await readFile(codex, 'utf8')).toBe('[mcp_servers.one]\ncommand = "node"\nargs = ["one.js"]\n')
  })

  test('does not undo over a later change, unless it is forced to', async () => {
    await using project = await createProject()
    const file = join(project.folder, '.mcp.json')
    await writeFile(file, json)
    await cli(project, ['prepare', '--session', session.id])
    await writeFile(file, '{"mcpServers": {}}')
    expect(await cli(project, ['prepare', '--undo'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('--force'),
    })
    expect(await readFile(file, 'utf8')).toBe('{"mcpServers": {}}')
    expect((await cli(project, ['prepare', '--undo', '--force'])).code).toBe(0)
    expect(await readFile(file, 'utf8')).toBe(json)
  })

  test('keeps what is needed to undo where only this user can read it, and writes through a link', async () => {
    await using project = await createProject()
    const real = join(project.home, 'real.json')
    await writeFile(real, json)
    await symlink(real, join(project.folder, '.mcp.json'))
    await cli(project, ['prepare', '--session', session.id])
    expect(await readFile(real, 'utf8')).toContain(session.id)
    const records = join(project.home, '.local', 'state', 'holdpoint', 'undo')
    const [record] = await readdir(records)
    expect((await stat(join(records, record!))).mode & 0o077).toBe(0)
    expect((await stat(records)).mode & 0o077).toBe(0)
  })

  test('leaves what it cannot read byte for byte as it was, and says so', async () => {
    await using project = await createProject()
    const file = join(project.folder, '.mcp.json')
    await writeFile(file, '{"mcpServers": ')
    const broken = await cli(project, ['prepare', '--session', session.id])
    expect(broken).toMatchObject({ code: 0, err: expect.stringContaining('could not be read as JSON') })
    expect(await readFile(file, 'utf8')).toBe('{"mcpServers": ')
    const bytes = Buffer.from([0x7b, 0xff, 0x7d])
    await writeFile(file, bytes)
    expect(await cli(project, ['prepare', '--session', session.id])).toMatchObject({
      code: 1,
      err: expect.stringContaining('has no config that could be prepared'),
    })
    expect(await readFile(file)).toEqual(bytes)
  })

  test('prints for a script what it did and what the agent has to be told', async () => {
    await using project = await createProject()
    await writeFile(join(project.folder, '.mcp.json'), json)
    await writeFile(join(project.folder, '.env'), 'ELICITATION_TTL_MS=1000\n')
    const { out } = await cli(project, ['prepare', '--session', session.id, '--json'])
    expect(JSON.parse(out)).toMatchObject({
      files: [{ path: join(project.folder, '.mcp.json'), changed: true }],
      written: true,
      env: { ELICITATION_SESSION_ID: session.id, ELICITATION_TTL_MS: '1000' },
      systemPrompt: expect.stringContaining('# Approval gate'),
      warnings: [],
    })
  })

  test.each([
    [['prepare'], 64, 'Say for which session'],
    [['prepare', '--session', 'nobody-abcdef'], 1, 'There is no session "nobody-abcdef"'],
    [['prepare', '--session', 'x', '--runtime', 'vim'], 64, 'claude-code, codex or other'],
    [['env'], 64, '--session'],
  ])('refuses %j', async (args, code, text) => {
    await using project = await createProject()
    expect(await cli(project, args)).toMatchObject({ code, err: expect.stringContaining(text) })
  })
})

describe('env', () => {
  test('prints the five variables so that a shell takes them as they are', async () => {
    await using project = await createProject()
    await writeFile(join(project.folder, '.env'), `ELICITATION_POLL_URL=it's "$HOME"; \`true\`\nOTHER=1\n`)
    const { code, out, err } = await cli(project, ['env', '--session', session.id])
    expect(code).toBe(0)
    expect(err).toContain('sets ELICITATION_POLL_URL but not ELICITATION_REQUEST_URL')
    const { stdout } = await promisify(execFile)('sh', ['-c', `${out}\nenv`], {
      env: { PATH: process.env.PATH },
    })
    const lines = stdout.split('\n')
    expect(lines).toContain(`ELICITATION_POLL_URL=it's "$HOME"; \`true\``)
    expect(lines).toContain(`ELICITATION_SESSION_ID=${session.id}`)
    expect(lines.filter((line) => line.startsWith('ELICITATION_'))).toHaveLength(5)
    const asJson = JSON.parse((await cli(project, ['env', '--session', session.slug, '--json'])).out)
    expect(Object.keys(asJson)).toHaveLength(5)
  })
})
