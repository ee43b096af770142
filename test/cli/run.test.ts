import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'smol-toml'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSession } from '../support/ask.ts'
import { freePort, startServer, type TestServer } from '../support/server.ts'
import { mcpServerFile, startAdminApi } from './support/admin-api.ts'
import {
  binary,
  createProject,
  finished,
  gone,
  holdpoint,
  isAlive,
  type Project,
  type Running,
} from './support/command.ts'
import { accept, command, newestSession, sessionThat, timeline } from './support/session.ts'

// Each of these starts several programs, one after the other.
vi.setConfig({ testTimeout: 120_000, maxConcurrency: 3 })

const agents = join(import.meta.dirname, 'agents')
const claudeCode = [process.execPath, join(agents, 'claude-code.ts')]
const codex = [process.execPath, join(agents, 'codex.ts')]
const idle = [process.execPath, join(agents, 'idle.ts')]

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())

/** The lines of facts that a stub agent has printed. */
function facts(running: Running): any {
  return Object.assign(
    {},
    ...running
      .out()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  )
}

/** What a user of this machine has set: nothing, but where the server's data is. */
function local(project: Project, more: Record<string, string> = {}) {
  return project.environment({ HOLDPOINT_DATA_DIR: server.config.dataDir, ...more })
}

async function writeMcpJson(folder: string, environment: Record<string, string>): Promise<string> {
  const file = join(folder, 'mcp.json')
  await writeFile(
    file,
    JSON.stringify({
      mcpServers: { admin: { command: process.execPath, args: [mcpServerFile], env: environment } },
    }),
  )
  return file
}

async function writeCodexHome(home: string, environment: Record<string, string>): Promise<void> {
  await mkdir(join(home, '.codex'))
  await writeFile(join(home, '.codex', 'auth.json'), '{"OPENAI_API_KEY":"the login"}', { mode: 0o600 })
  await writeFile(
    join(home, '.codex', 'config.toml'),
    `model = "m" # kept\n${stringify({
      mcp_servers: {
        admin: {
          command: process.execPath,
          args: [mcpServerFile],
          env_vars: ['ELICITATION_REQUEST_URL'],
          env: environment,
        },
      },
    })}`,
  )
}

describe('an agent whose MCP server asks a person', () => {
  const manners: { name: string; agent: string[]; runtime: string; environment: Record<string, string> }[] = [
    { name: 'as Claude Code starts it', agent: claudeCode, runtime: 'claude-code', environment: {} },
    {
      name: 'as Claude Code starts it with the allow-list switch',
      agent: claudeCode,
      runtime: 'claude-code',
      environment: { CLAUDE_CODE_MCP_ALLOWLIST_ENV: '1' },
    },
    { name: 'as Codex starts it', agent: codex, runtime: 'codex', environment: {} },
  ]
  test.each(manners)(
    'reaches the person and carries on with the answer: $name',
    async ({ agent, runtime, environment }) => {
      await using project = await createProject()
      using api = await startAdminApi()
      const config = await writeMcpJson(project.folder, api.environment)
      await writeCodexHome(project.home, api.environment)
      const options = runtime === 'codex' ? [] : ['--mcp-config', config]
      await using running = holdpoint(['run', '--runtime', runtime, ...options, '--', ...agent], {
        environment: local(project, environment),
        cwd: project.folder,
      })

      const blocked = await sessionThat(server, ({ blockedOnElicitation }) => blockedOnElicitation)
      expect(blocked).toMatchObject({
        status: 'NEEDS_INPUT',
        runtime: runtime === 'codex' ? 'CODEX' : 'CLAUDE_CODE',
        workingDirectory: project.folder,
        process: { alive: true },
      })
      expect(blocked.process!.pid).toBe(facts(running).agent)
      expect(isAlive(facts(running).agent)).toBe(true)
      expect(api.calls).toEqual([])

      await accept(server, blocked.pendingElicitations[0]!.requestId)
      expect(await running.exited).toBe(0)
      expect(running.out()).toContain('The stand-in did it.')
      expect(api.calls.length).toBeGreaterThan(0)
      expect(await newestSession(server)).toMatchObject({
        status: 'NEEDS_INPUT',
        blockedOnElicitation: false,
        lostElicitation: null,
        process: { alive: false, exitCode: 0 },
      })
    },
  )
})

describe('what an agent is given', () => {
  test('a private copy of the config by option, and the prompt behind the one that it has', async () => {
    await using project = await createProject()
    using api = await startAdminApi()
    const config = await writeMcpJson(project.folder, api.environment)
    const before = await readFile(config, 'utf8')
    const theirs = ['-p', '--mcp-config', config, '--append-system-prompt', 'Be brief.', '--', 'Delete acme.']
    await using running = holdpoint(
      ['run', '--runtime', 'claude-code', '--title', 'A copy', '--', ...claudeCode, ...theirs],
      {
        environment: local(project, {
          HOLDPOINT_API_KEY: 'an-admin-key-for-tests',
          HOLDPOINT_URL: server.url,
          CLAUDECODE: '1',
          ELICITATION_SESSION_ID: 'a-parents',
        }),
        cwd: project.folder,
      },
    )
    const { id, title } = await sessionThat(server, ({ blockedOnElicitation }) => blockedOnElicitation)
    expect(title).toBe('A copy')

    const { args, configFile, configMode, config: copy, environment } = facts(running)
    expect(configMode).toBe('600')
    expect(configFile).toContain(project.home)
    expect(copy.mcpServers.admin).toMatchObject({
      env: { ...api.environment, ELICITATION_SESSION_ID: id, ELICITATION_PREFER_HTTP_FALLBACK: 'true' },
      timeout: 65 * 60_000,
    })
    expect(args.slice(0, 2)).toEqual(['-p', `--mcp-config=${configFile}`])
    expect(args[2]).toMatch(/^--settings=/)
    expect(args[3]).toBe('--append-system-prompt')
    expect(args[4]).toMatch(/^Be brief\.\n\n# Approval gate/)
    expect(args.slice(5)).toEqual(['--', 'Delete acme.'])
    expect(environment).toMatchObject({
      ELICITATION_SESSION_ID: id,
      CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: String(65 * 60_000),
    })
    expect(Object.keys(environment).filter((name) => /^(HOLDPOINT_|CLAUDECODE$)/.test(name))).toEqual([])
    expect(await readFile(config, 'utf8')).toBe(before)

    expect(await command(server, 'pauseSession', id)).toBe('PauseSessionSuccess')
    expect(await running.exited).toBe(143)
    await expect(readFile(configFile)).rejects.toThrow('ENOENT')
  })

  test('the bridge before each stdio server, once, also where the project has it already', async () => {
    await using project = await createProject()
    await using api = await startAdminApi()
    const config = join(project.folder, '.mcp.json')
    const entry = { command: process.execPath, args: [mcpServerFile], env: api.environment }
    await writeFile(config, JSON.stringify({ mcpServers: { admin: entry } }))
    const options = { environment: local(project), cwd: project.folder }
    const { id } = await createSession(server)
    expect((await finished(['prepare', '--bridge', '--session', id], options)).code).toBe(0)
    await using running = holdpoint(
      ['run', '--bridge', '--runtime', 'claude-code', '--', ...claudeCode, '-p'],
      options,
    )
    const blocked = await sessionThat(server, ({ blockedOnElicitation }) => blockedOnElicitation)
    const { admin } = facts(running).config.mcpServers
    expect(admin.args).toEqual([binary, 'bridge', '--server=admin', '--', process.execPath, mcpServerFile])
    expect(admin.env.ELICITATION_SESSION_ID).toBe(blocked.id)
    await command(server, 'pauseSession', blocked.id)
    expect(await running.exited).toBe(143)
  })

  test('a private home with the rewritten config, the login and the prompt, for Codex', async () => {
    await using project = await createProject()
    using api = await startAdminApi()
    await writeCodexHome(project.home, api.environment)
    const home = join(project.home, '.codex')
    await writeFile(join(home, 'AGENTS.md'), 'Be brief.\n')
    const before = await readFile(join(home, 'config.toml'), 'utf8')
    await using running = holdpoint(['run', '--runtime', 'codex', '--', ...codex], {
      environment: local(project),
      cwd: project.folder,
    })
    const { id } = await sessionThat(server, ({ blockedOnElicitation }) => blockedOnElicitation)
    const seen = facts(running)
    expect(seen).toMatchObject({ configMode: '600', auth: '{"OPENAI_API_KEY":"the login"}' })
    expect(seen.files).toEqual(expect.arrayContaining(['AGENTS.md', 'auth.json', 'config.toml', 'sessions']))
    expect(seen.config).toMatchObject({
      model: 'm',
      mcp_servers: {
        admin: { tool_timeout_sec: 65 * 60, env: { ...api.environment, ELICITATION_SESSION_ID: id } },
      },
    })
    expect(seen.config.mcp_servers.admin).not.toHaveProperty('env_vars')
    expect(await readFile(join(seen.home, 'AGENTS.md'), 'utf8')).toMatch(
      /^# Approval gate[\s\S]*Be brief\.\n$/,
    )
    expect(await readFile(join(home, 'config.toml'), 'utf8')).toBe(before)

    // What Codex makes anew in this home is the user's.
    await writeFile(join(seen.home, 'history.jsonl'), 'a line\n')
    await command(server, 'pauseSession', id)
    await running.exited
    expect(await readFile(join(home, 'history.jsonl'), 'utf8')).toBe('a line\n')
    expect((await readdir(home)).sort()).toEqual([
      'AGENTS.md',
      'auth.json',
      'config.toml',
      'history.jsonl',
      'sessions',
    ])
    await expect(readdir(seen.home)).rejects.toThrow('ENOENT')
  })

  test('the values of the .env, which win over the gate and are named in the timeline', async () => {
    await using project = await createProject()
    await writeFile(
      join(project.folder, '.env'),
      'ELICITATION_REQUEST_URL=http://user:hidden@127.0.0.1:9/elsewhere\nELICITATION_POLL_URL=http://127.0.0.1:9/elsewhere\nMINE=1\n',
    )
    await using running = holdpoint(['run', '--', ...idle, '{system-prompt}'], {
      environment: local(project),
      cwd: project.folder,
    })
    await running.said('"grandchild"')
    expect(facts(running).environment).toMatchObject({
      ELICITATION_POLL_URL: 'http://127.0.0.1:9/elsewhere',
      MINE: '1',
    })
    expect(running.err()).toContain('THE APPROVAL GATE IS BROKEN: http://[redacted]@127.0.0.1:9/elsewhere')
    const { id } = (await newestSession(server))!
    const prepared = (await timeline(server, id)).find(({ type }) => type === 'launch.prepared')
    expect(prepared!.data.detail).toContain('requests go to http://[redacted]@127.0.0.1:9/elsewhere')
    expect(prepared!.data.overridden).toEqual(['ELICITATION_REQUEST_URL', 'ELICITATION_POLL_URL'])
  })

  test('a key of its own when it is asked for, which sees its session and answers nothing', async () => {
    await using project = await createProject()
    await using running = holdpoint(['run', '--with-agent-key', '--', ...idle], {
      environment: local(project),
      cwd: project.folder,
    })
    await running.said('"grandchild"')
    const { HOLDPOINT_API_KEY: key, HOLDPOINT_URL } = facts(running).environment
    expect(HOLDPOINT_URL).toBe(server.url)
    const { viewer } = await server.graphql('{ viewer { role sessionId } }', {}, key)
    expect(viewer).toEqual({ role: 'VIEWER', sessionId: (await newestSession(server))!.id })
  })
})

describe('a gate that cannot be reached from where the agent runs', () => {
  test('is told plainly to the person, to the agent and to the server', async () => {
    // Nothing listens there.
    const address = `http://127.0.0.1:${await freePort()}`
    await using broken = await startServer({ environment: { PUBLIC_URL: address } })
    await using project = await createProject()
    using api = await startAdminApi()
    const config = await writeMcpJson(project.folder, api.environment)
    await using running = holdpoint(
      ['run', '--runtime', 'claude-code', '--mcp-config', config, '--', ...claudeCode],
      {
        environment: project.environment({ HOLDPOINT_DATA_DIR: broken.config.dataDir }),
        cwd: project.folder,
      },
    )
    await running.exited
    expect(running.err()).toContain(`THE APPROVAL GATE IS BROKEN: ${address}/api/v1/elicitations`)
    const prompt: string = facts(running).args.at(-1)
    expect(prompt).toMatch(/^# Approval gate: broken/)
    expect(prompt).toContain(`checked from ${hostname()}`)
    const { gate } = await broken.graphql('{ gate { hosts { host reachable detail } } }')
    expect(gate.hosts).toEqual([
      { host: hostname(), reachable: false, detail: expect.stringContaining('ECONNREFUSED') },
    ])
    const told = await timeline(broken, (await newestSession(broken))!.id)
    expect(told.filter(({ type }) => type === 'process.registered')).toHaveLength(1)
  })

  test('is no news any more once it can be reached again', async () => {
    await using project = await createProject()
    const { id } = await createSession(server)
    await server.graphql(
      `mutation($id: ID!, $host: String!) {
        registerProcess(input: { sessionId: $id, host: $host, pid: 7 }) { __typename }
        heartbeat(input: { sessionId: $id, gate: { url: "http://x", reachable: false, detail: "no route" } }) { __typename } }`,
      { id, host: hostname() },
    )
    const { code, out, err } = await finished(
      ['run', '--', process.execPath, '-e', 'console.log(process.argv[1])', '<{system-prompt}>'],
      { environment: local(project), cwd: project.folder },
    )
    expect({ code, out }).toEqual({ code: 0, out: '<>\n' })
    expect(err).not.toContain('BROKEN')
  })

  test('nor is it silent where a variable makes servers act without asking', async () => {
    await using project = await createProject()
    const { err } = await finished(['run', '--', 'true'], {
      environment: local(project, { ELICITATION_ENABLED: 'False' }),
      cwd: project.folder,
    })
    expect(err).toContain('act WITHOUT asking anybody')
  })
})

// Beside each other: most of it is waiting for a process to start or to end.
describe.concurrent('the end of an agent', () => {
  async function run(
    project: Project,
    more: { environment?: Record<string, string>; options?: string[]; agent?: string[] } = {},
  ) {
    const { environment, options = [], agent = idle } = more
    const running = holdpoint(['run', ...options, '--', ...agent], {
      environment: local(project, environment),
      cwd: project.folder,
    })
    await running.said('"agent"')
    return running
  }

  test('a pause from elsewhere ends everything that it has started, by force where it does not listen', async () => {
    await using project = await createProject()
    await using running = await run(project, { agent: [...idle, 'stubborn'] })
    const { agent, child, grandchild } = facts(running)
    const { id } = await sessionThat(server, (session) => session.process?.pid === agent)
    expect(await command(server, 'pauseSession', id)).toBe('PauseSessionSuccess')
    await Promise.all([gone(agent), gone(child), gone(grandchild)])
    expect(await running.exited).toBe(143)
    expect(running.err()).toContain('the session was paused by admin; the agent was ended')
    expect(await newestSession(server, project.folder)).toMatchObject({
      status: 'NEEDS_INPUT',
      process: { signal: 'SIGTERM' },
    })
  })

  test.each([
    ['failSession', 'FAILED', ', reason: "wrong tenant"'],
    ['archiveSession', 'ARCHIVED', ''],
  ])('%s from elsewhere ends it', async (mutation, status, more) => {
    await using project = await createProject()
    await using running = await run(project)
    const { id } = await sessionThat(server, (session) => session.process?.pid === facts(running).agent)
    await command(server, mutation, id, more)
    expect(await running.exited).toBe(143)
    expect(await newestSession(server, project.folder)).toMatchObject({ status })
  })

  test.each([
    [0, 'NEEDS_INPUT', null],
    [7, 'FAILED', 'The agent exited with code 7.'],
  ])('its exit with %i', async (code, status, failureReason) => {
    await using project = await createProject()
    await using running = await run(project, { environment: { AGENT_EXIT_CODE: String(code) } })
    process.kill(facts(running).agent, 'SIGUSR2')
    expect(await running.exited).toBe(code)
    expect(await newestSession(server, project.folder)).toMatchObject({
      status,
      failureReason,
      process: { exitCode: code },
    })
    await gone(facts(running).grandchild)
  })

  test('Ctrl-C reaches the agent and pauses the session', async () => {
    await using project = await createProject()
    await using running = await run(project)
    running.kill('SIGINT')
    expect(await running.exited).toBe(130)
    expect(await newestSession(server, project.folder)).toMatchObject({
      status: 'NEEDS_INPUT',
      process: { signal: 'SIGINT' },
    })
  })

  test('the end of the runner is the end of the agent', async () => {
    await using project = await createProject()
    await using running = await run(project)
    running.kill('SIGTERM')
    expect(await running.exited).toBe(143)
    await gone(facts(running).grandchild)
    expect(await newestSession(server, project.folder)).toMatchObject({
      status: 'FAILED',
      failureReason: 'The agent was ended by SIGTERM.',
    })
  })

  test.each([
    [0, { status: 'NEEDS_INPUT', lostElicitation: { reason: 'STRANDED' } }],
    [
      1,
      {
        status: 'FAILED',
        failureReason: expect.stringMatching(/code 1 while a request was unanswered: delete_tenant/),
      },
    ],
  ])('its exit with %i while a request waits', async (code, expected) => {
    await using project = await createProject()
    using api = await startAdminApi()
    const config = await writeMcpJson(project.folder, api.environment)
    await using running = await run(project, {
      environment: { AGENT_EXIT_CODE: String(code) },
      options: ['--runtime', 'claude-code', '--mcp-config', config],
      agent: claudeCode,
    })
    await sessionThat(
      server,
      ({ blockedOnElicitation, workingDirectory }) =>
        blockedOnElicitation && workingDirectory === project.folder,
    )
    process.kill(facts(running).agent, 'SIGUSR2')
    expect(await running.exited).toBe(code)
    expect(await newestSession(server, project.folder)).toMatchObject({
      ...expected,
      blockedOnElicitation: false,
      pendingElicitations: [],
    })
    await gone(facts(running).server)
    expect(api.calls).toEqual([])
  })
})

describe('starting', () => {
  test('resumes the session that it is given', async () => {
    await using project = await createProject()
    const options = { environment: local(project), cwd: project.folder }
    await finished(['run', '--', process.execPath, '-e', ''], options)
    const { slug, id } = (await newestSession(server))!
    expect(
      (await finished(['run', '--session', slug, '--', process.execPath, '-e', 'process.exit(4)'], options))
        .code,
    ).toBe(4)
    expect(await newestSession(server)).toMatchObject({ id, status: 'FAILED' })
    expect((await timeline(server, id)).filter(({ type }) => type === 'session.resumed')).toHaveLength(2)
  })

  test('refuses a session whose agent still runs, and one that is archived', async () => {
    await using project = await createProject()
    const options = { environment: local(project), cwd: project.folder }
    await using running = holdpoint(['run', '--', ...idle], options)
    await running.said('"grandchild"')
    const { id, slug } = await sessionThat(server, (session) => session.process?.pid === facts(running).agent)
    const second = await finished(['run', '--session', id, '--', 'true'], options)
    expect(second).toMatchObject({ code: 1, err: expect.stringContaining('still runs on') })
    await command(server, 'archiveSession', id)
    await running.exited
    const third = await finished(['run', '--session', slug, '--', 'true'], options)
    expect(third).toMatchObject({ code: 1, err: expect.stringContaining('Unarchive it first') })
  })

  test('refuses to start a second agent beside one that has outlived its runner, told by its number and its start', async () => {
    await using project = await createProject()
    let aheadMs = 0
    await using quiet = await startServer({ now: () => new Date(Date.now() + aheadMs) })
    const options = {
      environment: project.environment({ HOLDPOINT_DATA_DIR: quiet.config.dataDir }),
      cwd: project.folder,
    }
    const orphan = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    const { id } = await createSession(quiet, { start: false })
    const register = (startedAt: Date) =>
      quiet.graphql(
        `mutation($id: ID!, $host: String!, $pid: Int!, $startedAt: DateTime) { registerProcess(input: {
          sessionId: $id, host: $host, pid: $pid, startedAt: $startedAt }) { __typename } }`,
        { id, host: hostname(), pid: orphan.pid, startedAt },
      )
    await register(new Date())
    // Nothing has been heard of it for ten minutes, and yet it is there.
    aheadMs = 10 * 60_000
    const first = await finished(['run', '--session', id, '--', 'true'], options)
    expect(first).toMatchObject({ code: 1, err: expect.stringContaining(`(process ${orphan.pid})`) })
    // The number is another process's by now.
    await register(new Date('2020-01-01'))
    aheadMs = 20 * 60_000
    expect((await finished(['run', '--session', id, '--', 'true'], options)).code).toBe(0)
    orphan.kill('SIGKILL')
  })

  test.each([
    [['--bridge'], ['my-agent']],
    [[], ['my-agent', '--config={mcp-config}']],
  ])(
    'refuses a copy of a config that it does not know the place of, with %j for %j',
    async (options, agent) => {
      await using project = await createProject()
      const before = await newestSession(server)
      const result = await finished(['run', ...options, '--', ...agent], {
        environment: local(project),
        cwd: project.folder,
      })
      expect(result).toMatchObject({ code: 64, err: expect.stringContaining('need --mcp-config FILE') })
      expect(await newestSession(server)).toEqual(before)
    },
  )

  test('a command that is not there fails the session and exits with 127', async () => {
    await using project = await createProject()
    const result = await finished(['run', '--', 'no-such-agent'], {
      environment: local(project),
      cwd: project.folder,
    })
    expect(result).toMatchObject({ code: 127, err: expect.stringContaining('no command no-such-agent') })
    expect(await newestSession(server)).toMatchObject({
      status: 'FAILED',
      failureReason: expect.stringContaining('no-such-agent'),
    })
  })

  test('a server that is not there, a wrong key and a key that may not are told apart, and no session is left', async () => {
    await using project = await createProject()
    const { createApiKey } = await server.graphql(
      `mutation { createApiKey(input: { name: "looks", role: VIEWER }) { ... on CreateApiKeySuccess { secret } } }`,
    )
    const before = (await newestSession(server))?.id
    const run = (environment: Record<string, string>) =>
      finished(['run', '--', 'true'], { environment: project.environment(environment), cwd: project.folder })
    expect(await run({ HOLDPOINT_URL: 'http://127.0.0.1:9', HOLDPOINT_API_KEY: 'x' })).toMatchObject({
      code: 69,
      err: expect.stringContaining('Start it (holdpoint serve)'),
    })
    expect(await run({ HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: 'x' })).toMatchObject({
      code: 77,
      err: expect.stringContaining('does not know the key'),
    })
    expect(await run({ HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: createApiKey.secret })).toMatchObject({
      code: 77,
      err: expect.stringContaining('role viewer'),
    })
    expect(await run({ HOLDPOINT_URL: server.url })).toMatchObject({
      code: 77,
      err: expect.stringContaining('HOLDPOINT_API_KEY is not'),
    })
    expect((await newestSession(server))?.id).toBe(before)
  })
})
