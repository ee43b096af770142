import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { respond } from '../support/mcp.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'
import { createProject, holdpoint, type Project, type Running } from './support/command.ts'
import { type SeenSession, sessionThat, timeline } from './support/session.ts'

// Each of these starts several programs, one after the other.
vi.setConfig({ testTimeout: 120_000 })

const headless = [process.execPath, join(import.meta.dirname, 'agents', 'headless.ts')]

let server: TestServer
let project: Project
let skewMs = 0
beforeAll(async () => {
  server = await startServer({
    environment: { HOLDPOINT_GATE_ACCESS: 'capability' },
    now: () => new Date(Date.now() + skewMs),
  })
  project = await createProject()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await project[Symbol.asyncDispose]()
})

function run(happens: object, options: string[] = [], environment: Record<string, string> = {}): Running {
  const agent = [...headless, '-p', '--', JSON.stringify(happens)]
  return holdpoint(['run', '--runtime', 'claude-code', ...options, '--', ...agent], {
    environment: project.environment({ HOLDPOINT_DATA_DIR: server.config.dataDir, ...environment }),
    cwd: project.folder,
  })
}

const blocked = (): Promise<SeenSession> =>
  sessionThat(server, ({ blockedOnElicitation }) => blockedOnElicitation)
const decisionOf = (running: Running) => JSON.parse(running.out()).decision

describe('what a server asks a headless Claude Code natively', () => {
  const elicitation = {
    mcp_server_name: 'tickets',
    message: 'Close the ticket?',
    mode: 'form',
    requested_schema: {
      type: 'object',
      properties: { reason: { type: 'string' } },
      required: ['reason'],
    },
  }

  test.each([
    [
      { action_type: 'accept', content: { reason: 'done' } },
      { action: 'accept', content: { reason: 'done' } },
    ],
    [{ action_type: 'decline' }, { action: 'decline' }],
  ])('is put to a person, whose answer it gets: %j', async (answer, decision) => {
    await using running = run(elicitation)
    const { id, pendingElicitations } = await blocked()
    expect(pendingElicitations).toMatchObject([{ message: 'Close the ticket?', serverName: 'tickets' }])
    await respond(server, pendingElicitations[0]!.requestId, answer)
    expect(await running.exited).toBe(0)
    expect(decisionOf(running)).toEqual({ hookEventName: 'Elicitation', ...decision })
    expect((await timeline(server, id)).filter(({ type }) => type === 'process.registered')).toHaveLength(1)
  })

  test('is a cancel when the time is up', async () => {
    await using running = run(elicitation)
    const { requestId } = (await blocked()).pendingElicitations[0]!
    try {
      skewMs = 2 * 3_600_000
      // An answer that comes too late finds that the time was up.
      const late = { key: adminKey, body: { action_type: 'accept', content: { reason: 'late' } } }
      const { status } = await server.rest('PATCH', `/api/v1/elicitations/${requestId}/respond`, late)
      expect(status).not.toBe(200)
      expect(await running.exited).toBe(0)
      expect(decisionOf(running)).toEqual({ hookEventName: 'Elicitation', action: 'cancel' })
    } finally {
      skewMs = 0
    }
  })

  test('is said before the agent starts to reach nobody where hooks are not run', async () => {
    await using running = holdpoint(
      [
        'run',
        '--runtime',
        'claude-code',
        '--',
        process.execPath,
        '-e',
        'console.error("the agent")',
        '--',
        '--bare',
      ],
      {
        environment: project.environment({ HOLDPOINT_DATA_DIR: server.config.dataDir }),
        cwd: project.folder,
      },
    )
    await running.exited
    expect(running.err()).not.toContain('no hooks')
    await using bare = holdpoint(
      [
        'run',
        '--runtime',
        'claude-code',
        '--',
        process.execPath,
        '--eval=console.error("the agent")',
        'x',
        '--bare',
      ],
      {
        environment: project.environment({ HOLDPOINT_DATA_DIR: server.config.dataDir }),
        cwd: project.folder,
      },
    )
    await bare.exited
    expect(bare.err()).toMatch(/runs no hooks with --bare.*\n[\s\S]*the agent/)
  })
})

describe('what a headless Claude Code asks permission for, with --approve-tools', () => {
  const use = { tool_name: 'Bash', input: { command: 'make release' }, tool_use_id: 'toolu_1' }

  test.each([
    ['with its whole environment', {}],
    ['with the allow-list switch', { CLAUDE_CODE_MCP_ALLOWLIST_ENV: '1' }],
  ])('is decided by a person, under a key that is bound to the session: %s', async (_, environment) => {
    await using running = run(use, ['--approve-tools'], environment)
    const { id, pendingElicitations } = await blocked()
    expect(pendingElicitations).toMatchObject([
      {
        toolName: 'Bash',
        serverName: "the agent's permission prompt",
        message: expect.stringContaining('make release'),
      },
    ])
    await respond(server, pendingElicitations[0]!.requestId, { action_type: 'accept' })
    expect(await running.exited).toBe(0)
    expect(decisionOf(running)).toEqual({ behavior: 'allow', updatedInput: use.input })
    const made = (await timeline(server, id)).filter(({ type }) => type === 'key.created')
    expect(made.map(({ data }) => data.role)).toEqual(['viewer'])
  })

  test('reads why not, when the person declines', async () => {
    await using running = run(use, ['--approve-tools'])
    const { requestId } = (await blocked()).pendingElicitations[0]!
    await respond(server, requestId, { action_type: 'decline', note: 'not before the release' })
    await running.exited
    expect(decisionOf(running)).toEqual({ behavior: 'deny', message: 'not before the release' })
  })

  test('and its own questions come as a form, with the answers as it takes them', async () => {
    const question = { question: 'Which region?', options: [{ label: 'eu' }, { label: 'us' }] }
    const input = { questions: [question] }
    await using running = run({ tool_name: 'AskUserQuestion', input }, ['--approve-tools'])
    const { requestId, message } = (await blocked()).pendingElicitations[0]!
    expect(message).toBe('Which region?')
    await respond(server, requestId, { action_type: 'accept', content: { question_1: 'us' } })
    await running.exited
    expect(decisionOf(running)).toEqual({
      behavior: 'allow',
      updatedInput: { ...input, answers: { 'Which region?': 'us' } },
    })
  })

  test('is for Claude Code, and refused for another runtime before there is a session', async () => {
    await using running = holdpoint(['run', '--approve-tools', '--', 'codex', 'exec', 'go'], {
      environment: project.environment({ HOLDPOINT_DATA_DIR: server.config.dataDir }),
      cwd: project.folder,
    })
    expect(await running.exited).toBe(64)
    expect(running.err()).toContain('--approve-tools is for Claude Code')
  })
})
