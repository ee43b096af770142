import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { planClaudeCode } from '../../src/runner/claude-code.ts'
import { createPrivateFolder } from '../../src/runner/private-folder.ts'
import { createProject, type Project } from '../cli/support/command.ts'

const server = (from: string) => ({ command: 'node', args: [from] })

async function write(path: string, value: unknown): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, JSON.stringify(value))
}

function plan(
  project: Project,
  command: string[],
  more: Record<string, string> = {},
  mcpConfigFile: string | null = null,
) {
  const environment = { HOME: project.home, ...more }
  return planClaudeCode({
    command,
    cwd: project.folder,
    environment,
    mcpConfigFile,
    approveTools: false,
    holdpoint: ["/it's/node", '/opt/holdpoint.js'],
  })
}

/** Which definition of each server the private copy would have. */
function chosen({ mcpConfig }: Awaited<ReturnType<typeof plan>>): Record<string, string> {
  const servers = JSON.parse(mcpConfig?.text ?? '{"mcpServers":{}}').mcpServers
  return Object.fromEntries(Object.entries<any>(servers).map(([name, { args }]) => [name, args[0]]))
}

/** A user with servers in every place, among them ones that have been switched off or rejected. */
async function settle(project: Project): Promise<void> {
  await write(join(project.home, '.claude.json'), {
    mcpServers: { user: server('user'), both: server('user'), off: server('user'), shadowed: server('user') },
    projects: {
      [project.folder]: {
        mcpServers: { local: server('local'), both: server('local') },
        disabledMcpServers: ['off'],
        enabledMcpjsonServers: ['approved'],
      },
    },
  })
  await write(join(project.folder, '.mcp.json'), {
    mcpServers: {
      approved: server('project'),
      fresh: server('project'),
      rejected: server('project'),
      shadowed: server('project'),
    },
  })
  await write(join(project.folder, '.claude', 'settings.json'), {
    enableAllProjectMcpServers: true,
    enabledMcpjsonServers: ['fresh'],
    disabledMcpjsonServers: ['rejected'],
  })
}

describe('the servers of a private copy for Claude Code', () => {
  test('are in an interactive session those that it would start without asking: no project approves its own', async () => {
    await using project = await createProject()
    await settle(project)
    const found = await plan(project, ['claude'])
    expect(chosen(found)).toEqual({ user: 'user', both: 'local', local: 'local', approved: 'project' })
    expect(found.notices).toEqual([
      expect.stringMatching(/"fresh", "shadowed".*not approved.*environment only/),
    ])
  })

  test('are with --print also the others of the project, but none that was rejected or switched off', async () => {
    await using project = await createProject()
    await settle(project)
    const found = await plan(project, ['claude', '-p', 'go'])
    expect(chosen(found)).toEqual({
      user: 'user',
      both: 'local',
      local: 'local',
      approved: 'project',
      fresh: 'project',
      shadowed: 'project',
    })
    expect(found.notices).toEqual([])
  })

  test('are with --strict-mcp-config only those of the configs that are named', async () => {
    await using project = await createProject()
    await settle(project)
    await write(join(project.folder, 'a.json'), { mcpServers: { a: server('a'), both: server('a') } })
    const command = [
      'claude',
      '--strict-mcp-config',
      '--mcp-config',
      'a.json',
      '{"mcpServers":{"b":{"command":"x","args":["b"]}}}',
    ]
    expect(chosen(await plan(project, command))).toEqual({ a: 'a', both: 'a', b: 'b' })
  })

  test('a server that the environment will not reach is named plainly', async () => {
    await using project = await createProject()
    await settle(project)
    const { notices } = await plan(project, ['claude'], { CLAUDE_CODE_MCP_ALLOWLIST_ENV: '1' })
    expect(notices).toEqual([expect.stringContaining('will NOT reach the gate')])
  })

  test('a name like constructor is a server like any other', async () => {
    await using project = await createProject()
    await writeFile(
      join(project.folder, 'a.json'),
      '{"mcpServers":{"constructor":{"command":"x","args":["a"]}}}',
    )
    const found = await plan(project, ['claude', '--strict-mcp-config'], {}, 'a.json')
    expect(found.mcpConfig!.text).toContain('"constructor"')
  })

  test('there is no copy where there is no server', async () => {
    await using project = await createProject()
    expect((await plan(project, ['claude'])).mcpConfig).toBeNull()
  })
})

describe('how Claude Code is started', () => {
  async function equip(project: Project, command: string[], systemPrompt: string | null = 'Ours.') {
    await using folder = await createPrivateFolder({ HOME: project.home })
    const planned = await plan(project, command)
    const equipped = await planned.equip(
      { mcpConfig: planned.mcpConfig?.text ?? null, systemPrompt, ttlMs: 60_000, agentVariables: null },
      folder,
    )
    // What is added to the settings is another test's.
    return equipped.command.filter((word) => !word.startsWith('--settings='))
  }

  test('a config that cannot be read stays where it is, for Claude Code to say so', async () => {
    await using project = await createProject()
    const command = await equip(project, ['claude', '--mcp-config', 'nowhere.json', 'say hello'], null)
    expect(command).toEqual(['claude', '--mcp-config', 'nowhere.json', 'say hello'])
  })

  test('the prompt is put behind the one that the command has, whichever way it was given', async () => {
    await using project = await createProject()
    await writeFile(join(project.folder, 'prompt.md'), 'From a file.')
    for (const [given, expected] of [
      [['--append-system-prompt', 'Theirs.'], 'Theirs.\n\nOurs.'],
      [['--append-system-prompt=Theirs.'], 'Theirs.\n\nOurs.'],
      [['--append-system-prompt-file', 'prompt.md'], 'From a file.\n\nOurs.'],
      [[], 'Ours.'],
    ] as const) {
      const command = await equip(project, ['claude', ...given, '-p', 'go'])
      expect(command).toEqual(['claude', '-p', 'go', '--append-system-prompt', expected])
    }
  })

  test('a longer patience that the user has set is kept', async () => {
    await using project = await createProject()
    const name = 'CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT'
    for (const [set, expected] of [
      ['99999999', '99999999'],
      ['5', '360000'],
      ['never', '360000'],
    ] as const) {
      await using folder = await createPrivateFolder({ HOME: project.home })
      const planned = await plan(project, ['claude'], { [name]: set })
      const { environment } = await planned.equip(
        { mcpConfig: null, systemPrompt: null, ttlMs: 60_000, agentVariables: null },
        folder,
      )
      expect(environment).toEqual({ [name]: expected })
    }
  })

  test('the copy is gone with its folder, and what is in it is for this user alone', async () => {
    await using project = await createProject()
    const folder = await createPrivateFolder({ HOME: project.home })
    const file = await folder.write('mcp.json', '{}')
    expect(await readFile(file, 'utf8')).toBe('{}')
    await folder[Symbol.asyncDispose]()
    await expect(readFile(file)).rejects.toThrow('ENOENT')
  })
})
