import { execFileSync } from 'node:child_process'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { planClaudeCode } from '../../src/runner/claude-code.ts'
import { createPrivateFolder } from '../../src/runner/private-folder.ts'
import { createProject, type Project } from '../cli/support/command.ts'

const holdpoint = ["/it's/node", '/opt/holdpoint/bin/holdpoint.js'] as const
const minuteMs = 60_000

async function start(
  project: Project,
  command: string[],
  {
    environment = {},
    approveTools = false,
    ttlMs = 60 * minuteMs,
    mcpConfig = null,
  }: {
    environment?: Record<string, string>
    approveTools?: boolean
    ttlMs?: number
    mcpConfig?: string | null
  } = {},
) {
  await using folder = await createPrivateFolder({ HOME: project.home })
  const planned = await planClaudeCode({
    command,
    cwd: project.folder,
    environment: { HOME: project.home, ...environment },
    mcpConfigFile: null,
    approveTools,
    holdpoint,
  })
  const agentVariables = approveTools ? { HOLDPOINT_URL: 'http://h', HOLDPOINT_API_KEY: 'bound' } : null
  const equipped = await planned.equip({ mcpConfig, systemPrompt: null, ttlMs, agentVariables }, folder)
  const given = (name: string) =>
    equipped.command.filter((word) => word.startsWith(`${name}=`)).map((word) => word.slice(name.length + 1))
  const [file] = given('--settings').filter((value) => value.startsWith(folder.path))
  const [config] = given('--mcp-config')
  return {
    command: equipped.command,
    notices: equipped.notices,
    settings: file === undefined ? null : JSON.parse(await readFile(file, 'utf8')),
    mode: file === undefined ? null : ((await stat(file)).mode & 0o777).toString(8),
    servers: config === undefined ? null : JSON.parse(await readFile(config, 'utf8')).mcpServers,
  }
}

async function write(file: string, value: unknown): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, JSON.stringify(value))
}

const ours = {
  matcher: '',
  hooks: [{ type: 'command', command: expect.stringContaining("'hook' 'claude-code'"), timeout: 65 * 60 }],
}
const theirHook = { matcher: 'tickets', hooks: [{ type: 'command', command: './mine.sh' }] }

describe('the Elicitation hook in the settings of a run', () => {
  test('is a command that a shell takes as it is, with more time than a person has, in a private file', async () => {
    await using project = await createProject()
    const { settings, mode, notices, command } = await start(project, ['claude', '-p', '--', 'go'])
    expect(settings).toEqual({ hooks: { Elicitation: [ours] } })
    expect(mode).toBe('600')
    expect(notices).toEqual([])
    expect(command.slice(-2)).toEqual(['--', 'go'])
    const [{ command: line }] = settings.hooks.Elicitation[0].hooks
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8' })
    expect(words.trim().split('\n')).toEqual([...holdpoint, 'hook', 'claude-code'])
  })

  test('never has a time-out that no timer can hold', async () => {
    await using project = await createProject()
    const { settings } = await start(project, ['claude'], { ttlMs: 2 ** 40 })
    expect(settings.hooks.Elicitation[0].hooks[0].timeout).toBe(2_147_483)
  })

  test.each(['a file', 'JSON'])(
    'goes behind what the command gives as %s, which it leaves as it was',
    async (kind) => {
      await using project = await createProject()
      const theirs = {
        model: 'opus',
        hooks: { Stop: [{ hooks: [] }], Elicitation: [theirHook] },
        permissions: { deny: ['Read(//etc/**)'] },
      }
      const file = join(project.folder, 'settings.json')
      await write(file, theirs)
      const given = kind === 'JSON' ? ['--settings', JSON.stringify(theirs)] : ['--settings=settings.json']
      const { settings, notices, command } = await start(project, ['claude', ...given, '-p', 'go'])
      expect(settings).toEqual({ ...theirs, hooks: { ...theirs.hooks, Elicitation: [theirHook, ours] } })
      expect(command.filter((word) => word.startsWith('--settings'))).toHaveLength(1)
      expect(notices).toEqual([expect.stringContaining('an Elicitation hook of their own')])
      expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(theirs)
    },
  )

  test.each([['--settings', 'nowhere.json'], ['--settings={"hooks": []}'], ['--settings={"hooks"']])(
    'leaves settings that it cannot read to Claude Code, and says what that means: %s',
    async (...given) => {
      await using project = await createProject()
      const { command, notices } = await start(project, ['claude', ...given])
      expect(command).toEqual(['claude', ...given])
      expect(notices).toEqual([expect.stringMatching(/could not be read.*nobody is asked.*--bridge/)])
    },
  )

  test.each([
    ["'/usr/bin/node' '/opt/holdpoint/bin/holdpoint.js' 'hook' 'claude-code'", 'command'],
    ['holdpoint hook claude-code', 'command'],
    ['http://127.0.0.1:4010/api/v1/hooks/claude-code', 'url'],
  ])('is not put there again for whoever has it in their own settings: %s', async (value, key) => {
    await using project = await createProject()
    const hooks = { Elicitation: [{ matcher: '', hooks: [{ type: 'command', [key]: value }] }] }
    await write(join(project.home, '.claude', 'settings.json'), { hooks })
    const { settings, notices } = await start(project, ['claude', '-p', 'go'])
    expect([settings, notices]).toEqual([null, []])
    // Settings that are not loaded do not count.
    expect((await start(project, ['claude', '--setting-sources', 'project,local'])).settings).not.toBeNull()
  })

  test.each([
    [['--bare'], {}, '--bare'],
    [['--safe-mode'], {}, '--safe-mode'],
    [[], { CLAUDE_CODE_SIMPLE: '1' }, 'CLAUDE_CODE_SIMPLE'],
    [['--settings', '{"disableAllHooks":true}'], {}, 'disableAllHooks'],
  ])('is told to be of no use where hooks are not run: %j %j', async (options, environment, named) => {
    await using project = await createProject()
    const { notices } = await start(project, ['claude', ...options], { environment })
    expect(notices).toEqual([expect.stringMatching(`no hooks with ${named}\\..*nobody is asked.*--bridge`)])
  })

  test('where settings contradict each other, the nearest say whether hooks are run', async () => {
    await using project = await createProject()
    await write(join(project.home, '.claude', 'settings.json'), { disableAllHooks: true })
    expect((await start(project, ['claude'])).notices).toHaveLength(1)
    await write(join(project.folder, '.claude', 'settings.local.json'), { disableAllHooks: false })
    expect((await start(project, ['claude'])).notices).toEqual([])
  })

  test('rules that are read from the folder of their file are named, as the copy is in another one', async () => {
    await using project = await createProject()
    await write(join(project.folder, 's.json'), { permissions: { allow: ['Read(/src/**)'] } })
    const { notices } = await start(project, ['claude', '--settings', 's.json'])
    expect(notices).toEqual([expect.stringMatching(/permission rules of s\.json/)])
  })
})

describe('the permission prompts of a run', () => {
  test('go to a server of Holdpoint’s own with the key of the session, which is there from the first turn', async () => {
    await using project = await createProject()
    const mcpConfig = JSON.stringify({ mcpServers: { tickets: { command: 'node' } } })
    const { command, servers, settings, notices } = await start(project, ['claude', '-p', 'go'], {
      approveTools: true,
      mcpConfig,
    })
    expect(command).toContain('--permission-prompt-tool')
    expect(command[command.indexOf('--permission-prompt-tool') + 1]).toBe('mcp__holdpoint__approve_tool_use')
    expect(servers).toEqual({
      tickets: { command: 'node' },
      holdpoint: {
        command: holdpoint[0],
        args: [holdpoint[1], 'mcp'],
        env: { HOLDPOINT_URL: 'http://h', HOLDPOINT_API_KEY: 'bound' },
        timeout: 65 * minuteMs,
        alwaysLoad: true,
      },
    })
    // Nobody is asked whether they may be asked.
    expect(settings.permissions.allow).toEqual(['mcp__holdpoint__ask_person', 'mcp__holdpoint__await_answer'])
    expect(notices).toEqual([])
    expect((await start(project, ['claude', '-p'], { approveTools: true })).servers).toHaveProperty(
      'holdpoint',
    )
  })

  test('take another name where the user’s own server has theirs', async () => {
    await using project = await createProject()
    const mcpConfig = JSON.stringify({ mcpServers: { holdpoint: { command: 'x' } } })
    const { command, servers } = await start(
      project,
      ['claude', '-p', '--strict-mcp-config', '--mcp-config', mcpConfig],
      { approveTools: true, mcpConfig },
    )
    expect(Object.keys(servers)).toEqual(['holdpoint', 'holdpoint_2'])
    expect(command).toContain('mcp__holdpoint_2__approve_tool_use')
  })

  test.each([
    [['-p', '--permission-prompt-tool', 'mcp__x__y'], /stands in for the --permission-prompt-tool mcp__x__y/],
    [
      ['-p', '--dangerously-skip-permissions'],
      /--dangerously-skip-permissions Claude Code asks for no permission/,
    ],
    [['-p', '--permission-mode=bypassPermissions'], /--permission-mode bypassPermissions Claude Code asks/],
    [['-p', '--permission-prompts', 'none'], /--permission-prompts none Claude Code asks/],
    [[], /Without --print/],
  ])('are said to be of no use, or to be another’s, before the agent starts: %j', async (options, said) => {
    await using project = await createProject()
    const { command, notices } = await start(project, ['claude', ...options], { approveTools: true })
    expect(notices).toEqual([expect.stringMatching(said)])
    expect(command.filter((word) => word.startsWith('--permission-prompt-tool'))).toHaveLength(1)
  })
})
