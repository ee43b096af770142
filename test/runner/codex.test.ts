import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { planCodex } from '../../src/runner/codex.ts'
import { createPrivateFolder } from '../../src/runner/private-folder.ts'
import { createProject, type Project } from '../cli/support/command.ts'

async function settle(project: Project, homeConfig: string, projectConfig?: string): Promise<string> {
  const home = join(project.home, '.codex')
  await mkdir(home)
  await writeFile(join(home, 'config.toml'), homeConfig)
  if (projectConfig !== undefined) {
    await mkdir(join(project.folder, '.codex'))
    await writeFile(join(project.folder, '.codex', 'config.toml'), projectConfig)
  }
  return home
}

function plan(project: Project, command: string[] = ['codex']) {
  return planCodex({
    command,
    cwd: project.folder,
    environment: { HOME: project.home },
    mcpConfigFile: null,
    approveTools: false,
    holdpoint: ['holdpoint'],
  })
}

const trust = (project: Project) =>
  `\n[projects.${JSON.stringify(project.folder)}]\ntrust_level = "trusted"\n`

describe('a private home for Codex', () => {
  test('has the servers of a trusted project beside those of the home', async () => {
    await using project = await createProject()
    await settle(
      project,
      `# mine\n[mcp_servers.home]\ncommand = "h"\n${trust(project)}`,
      '[mcp_servers.home]\ncommand = "shadow"\n[mcp_servers."a b"]\ncommand = "p"\nargs = ["1"]\n',
    )
    const { mcpConfig, notices } = await plan(project)
    expect(mcpConfig!.text).toContain('# mine')
    expect((parse(mcpConfig!.text) as any).mcp_servers).toEqual({
      home: { command: 'h' },
      'a b': { command: 'p', args: ['1'] },
    })
    expect(notices).toEqual([])
  })

  test('has none of a project that is not trusted, and says that Codex will ignore them too', async () => {
    await using project = await createProject()
    await settle(project, '[mcp_servers.home]\ncommand = "h"\n', '[mcp_servers.p]\ncommand = "p"\n')
    const { mcpConfig, notices } = await plan(project)
    expect((parse(mcpConfig!.text) as any).mcp_servers).toEqual({ home: { command: 'h' } })
    expect(notices).toEqual([expect.stringContaining('does not trust')])
  })

  test('says which servers will not reach the gate where they cannot be added', async () => {
    await using project = await createProject()
    await settle(
      project,
      `mcp_servers = { home = { command = "h" } }\n${trust(project)}`,
      '[mcp_servers.p]\ncommand = "p"\n',
    )
    expect((await plan(project)).notices).toEqual([expect.stringContaining('will NOT reach the gate')])
  })

  test('raises by option a limit of the project, which would win over the one of the home', async () => {
    await using project = await createProject()
    const low = '[mcp_servers.p]\ncommand = "p"\ntool_timeout_sec = 10\n'
    await settle(project, trust(project), low)
    await using folder = await createPrivateFolder({ HOME: project.home })
    const planned = await plan(project, ['codex', 'exec', '--', '-x'])
    const mcpConfig = planned.mcpConfig!.text.replace('tool_timeout_sec = 10', 'tool_timeout_sec = 3900')
    const { command, environment } = await planned.equip(
      { mcpConfig, systemPrompt: null, ttlMs: 1, agentVariables: null },
      folder,
    )
    expect(command).toEqual(['codex', 'exec', '-c', 'mcp_servers.p.tool_timeout_sec=3900', '--', '-x'])
    expect(environment).toEqual({ CODEX_HOME: folder.path })
  })

  test('is not made where there is nothing to tell', async () => {
    await using project = await createProject()
    await settle(project, 'model = "m"\n')
    await using folder = await createPrivateFolder({ HOME: project.home })
    const planned = await plan(project)
    const equipped = await planned.equip(
      { mcpConfig: 'model = "m"\n', systemPrompt: null, ttlMs: 1, agentVariables: null },
      folder,
    )
    expect(equipped).toMatchObject({ command: ['codex'], environment: {} })
    expect(await readdir(folder.path)).toEqual([])
  })

  test('shares everything with the user but the background server, and tells of settings that were changed in it', async () => {
    await using project = await createProject()
    const home = await settle(project, '[mcp_servers.home]\ncommand = "h"\n')
    await mkdir(join(home, 'app-server-control'))
    await writeFile(join(home, 'auth.json'), 'old login')
    await writeFile(join(home, 'AGENTS.override.md'), 'Overriding.\n')
    await writeFile(join(home, 'AGENTS.md'), 'Not read.\n')
    await using folder = await createPrivateFolder({ HOME: project.home })
    const planned = await plan(project)
    const { finish } = await planned.equip(
      { mcpConfig: 'x = 1\n', systemPrompt: 'Ours.', ttlMs: 1, agentVariables: null },
      folder,
    )
    expect((await readdir(folder.path)).sort()).toEqual([
      'AGENTS.md',
      'AGENTS.override.md',
      'auth.json',
      'config.toml',
      'sessions',
    ])
    expect(await readFile(join(folder.path, 'AGENTS.override.md'), 'utf8')).toBe('Ours.\n\nOverriding.\n')

    // A file that is replaced, as by a login, is no link any more; it has to reach the user's home all the same.
    await rm(join(folder.path, 'auth.json'))
    await writeFile(join(folder.path, 'auth.json'), 'new login')
    for (const name of ['new.json', 'mine.sqlite', 'mine.sqlite-wal', 'theirs.sqlite', 'theirs.sqlite-wal'])
      await writeFile(join(folder.path, name), 'made here')
    // Another run was faster: its database stays, and gets no log of ours beside it.
    await writeFile(join(home, 'theirs.sqlite'), 'made elsewhere')
    await writeFile(join(folder.path, 'config.toml'), 'x = 2\n')
    expect(await finish!()).toEqual([expect.stringContaining('changed its settings')])
    for (const [name, text] of [
      ['auth.json', 'new login'],
      ['new.json', 'made here'],
      ['mine.sqlite-wal', 'made here'],
      ['theirs.sqlite', 'made elsewhere'],
    ] as const)
      expect(await readFile(join(home, name), 'utf8')).toBe(text)
    expect(await readdir(home)).not.toContain('theirs.sqlite-wal')
    expect(await readFile(join(home, 'config.toml'), 'utf8')).toContain('mcp_servers.home')
    expect(await readFile(join(home, 'AGENTS.override.md'), 'utf8')).toBe('Overriding.\n')
  })

  test('says which server a project has fixed to another address, as Codex takes that one', async () => {
    await using project = await createProject()
    const stale = '[mcp_servers.p]\ncommand = "p"\nenv = { ELICITATION_REQUEST_URL = "http://stale" }\n'
    await settle(project, trust(project), stale)
    expect((await plan(project)).notices).toEqual([
      expect.stringMatching(/itself sets ELICITATION_REQUEST_URL for the MCP server "p".*will NOT reach/),
    ])
  })

  test('warns of a login in the keyring, which goes by the name of the home', async () => {
    await using project = await createProject()
    await settle(project, 'cli_auth_credentials_store = "keyring"\n')
    expect((await plan(project)).notices).toEqual([expect.stringContaining('keyring')])
  })
})
