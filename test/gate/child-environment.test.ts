import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { childEnvironment } from '../../src/gate/child-environment.ts'
import { parseDotenv } from '../../src/gate/dotenv.ts'
import { spawnEnvironment } from '../../src/gate/spawn-environment.ts'

const spawn = spawnEnvironment({
  collectionUrl: 'https://gate.example/api/v1/elicitations',
  expirationMs: 60_000,
  sessionId: 'session-1',
  dotenv: {},
})

/** What is left of a parent's environment, apart from the five variables. */
function rest(
  parent: Record<string, string | undefined>,
  more: Partial<Parameters<typeof childEnvironment>[1]> = {},
) {
  const child = { ...childEnvironment(parent, { dotenv: {}, spawn, ...more }) }
  for (const [name, value] of Object.entries(more.spawn ?? spawn)) {
    expect(child[name]).toBe(value)
    delete child[name]
  }
  return child
}

describe('the environment of an agent', () => {
  it('has what the person configured, and the five variables', () => {
    const configured = {
      PATH: '/usr/bin',
      HOME: '/home/x',
      ANTHROPIC_API_KEY: 'key',
      ANTHROPIC_BASE_URL: 'https://api.example',
      CLAUDE_CONFIG_DIR: '/home/x/.claude-work',
      CLAUDE_CODE_OAUTH_TOKEN: 'token',
      CLAUDE_CODE_USE_BEDROCK: '1',
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: '1000',
      CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: '1',
      CODEX_HOME: '/home/x/.codex',
      CODEX_API_KEY: 'key',
      OPENAI_API_KEY: 'key',
      GEMINI_API_KEY: 'key',
      OPENCODE_CONFIG: '/home/x/opencode.json',
      MCP_TIMEOUT: '60000',
      EMPTY: '',
    }
    expect(rest({ ...configured, UNSET: undefined })).toEqual(configured)
  })

  it('has none of Holdpoint’s own variables', () => {
    expect(
      rest({
        HOLDPOINT_API_KEY: 'launcher',
        HOLDPOINT_ADMIN_KEY: 'admin',
        HOLDPOINT_URL: 'u',
        HOLDPOINT_: 'x',
      }),
    ).toEqual({})
  })

  it('has the key that is bound to its session, and never the launcher’s own', () => {
    const keep = { HOLDPOINT_API_KEY: 'bound', HOLDPOINT_URL: 'https://gate.example' }
    expect(
      rest({ HOLDPOINT_API_KEY: 'launcher', HOLDPOINT_URL: 'u', HOLDPOINT_ADMIN_KEY: 'admin' }, { keep }),
    ).toEqual(keep)
  })

  it('is not told that it runs inside a parent agent', () => {
    expect(
      rest({
        CLAUDECODE: '1',
        CLAUDE_CODE_ENTRYPOINT: 'cli',
        CLAUDE_CODE_SESSION_ID: 's',
        CLAUDE_CODE_CHILD_SESSION: '1',
        CLAUDE_CODE_MESSAGING_SOCKET: '/tmp/s',
        CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR: '3',
        CLAUDE_PROJECT_DIR: '/elsewhere',
        CODEX_THREAD_ID: 't',
        CODEX_SANDBOX: 'seatbelt',
        CODEX_SANDBOX_NETWORK_DISABLED: '1',
        GEMINI_CLI: '1',
        OPENCODE: '1',
        CURSOR_AGENT: '1',
      }),
    ).toEqual({})
  })

  it('never has the gate of a parent session, whole or in part', () => {
    const parent = {
      ELICITATION_SESSION_ID: 'parent',
      ELICITATION_REQUEST_URL: 'https://old.example',
      ELICITATION_ENABLED: 'false',
    }
    const sessionless = spawnEnvironment({
      collectionUrl: 'https://gate.example/e',
      expirationMs: 1,
      dotenv: {},
    })
    // ELICITATION_ENABLED is the server's own business, so a person's setting of it stays.
    expect(rest(parent, { spawn: sessionless })).toEqual({ ELICITATION_ENABLED: 'false' })
  })

  describe('under npm', () => {
    const npm = {
      npm_execpath: '/npm',
      npm_lifecycle_event: 'start',
      npm_config_registry: 'r',
      npm_package_name: 'holdpoint',
      INIT_CWD: '/repo',
    }

    it('has nothing that npm added', () => {
      expect(rest({ ...npm, PATH: '/usr/bin' })).toEqual({ PATH: '/usr/bin' })
    })

    it('keeps NODE_OPTIONS of the person and drops what npm made of its own setting', () => {
      const options = { NODE_OPTIONS: '--max-old-space-size=4096' }
      expect(rest({ ...npm, ...options })).toEqual(options)
      expect(rest({ ...npm, ...options, npm_config_node_options: '--max-old-space-size=4096' })).toEqual({})
    })

    it('keeps DATABASE_URL and PORT, which npm does not set', () => {
      const own = { DATABASE_URL: 'postgres://mine', PORT: '3000' }
      expect(rest({ ...npm, ...own })).toEqual(own)
    })
  })

  it('keeps npm settings and INIT_CWD that a person exported without npm running', () => {
    const own = {
      npm_config_registry: 'https://registry.example',
      INIT_CWD: '/x',
      NODE_OPTIONS: '--inspect',
      NODE_PATH: '/lib',
    }
    expect(rest(own)).toEqual(own)
  })

  it('drops common names only where Holdpoint put that very value there', () => {
    const placed = {
      DATABASE_URL: 'postgres://embedded',
      PORT: '4010',
      NODE_OPTIONS: '--x',
      PATH: '/usr/bin',
    }
    expect(rest({ ...placed }, { placed })).toEqual({ PATH: '/usr/bin' })
    expect(rest({ DATABASE_URL: 'postgres://mine', PORT: '4010' }, { placed })).toEqual({
      DATABASE_URL: 'postgres://mine',
    })
    expect(rest({ DATABASE_URL: 'postgres://embedded' })).toEqual({ DATABASE_URL: 'postgres://embedded' })
  })

  it('gets any of those again from the session’s .env', () => {
    const dotenv = parseDotenv(
      'HOLDPOINT_API_KEY=mine\nCLAUDECODE=1\nnpm_config_registry=r\nDATABASE_URL=postgres://mine\nEMPTY=\n__proto__=data',
    ).variables
    const child = childEnvironment(
      { HOLDPOINT_API_KEY: 'launcher', DATABASE_URL: 'postgres://embedded', EMPTY: 'full' },
      {
        dotenv,
        spawn,
        keep: { HOLDPOINT_API_KEY: 'bound' },
        placed: { DATABASE_URL: 'postgres://embedded' },
      },
    )
    expect(Object.entries(child).filter(([name]) => !name.startsWith('ELICITATION_'))).toEqual([
      ['EMPTY', ''],
      ['HOLDPOINT_API_KEY', 'mine'],
      ['CLAUDECODE', '1'],
      ['npm_config_registry', 'r'],
      ['DATABASE_URL', 'postgres://mine'],
      ['__proto__', 'data'],
    ])
  })

  it('takes a blank ELICITATION variable of the .env for unset', () => {
    const dotenv = parseDotenv('ELICITATION_SESSION_ID=\nELICITATION_TTL_MS=""').variables
    const sessionless = spawnEnvironment({ collectionUrl: 'https://gate.example/e', expirationMs: 1, dotenv })
    expect(
      Object.hasOwn(childEnvironment({}, { dotenv, spawn: sessionless }), 'ELICITATION_SESSION_ID'),
    ).toBe(false)
  })

  it('is one that a process can be started with', () => {
    const dotenv = parseDotenv('__proto__=data\nTEXT=a b').variables
    const script =
      'process.stdout.write(JSON.stringify([process.env.TEXT, process.env.ELICITATION_SESSION_ID]))'
    const env = childEnvironment(process.env, { dotenv, spawn })
    const { stdout } = spawnSync(process.execPath, ['-e', script], { env, encoding: 'utf8' })
    expect(JSON.parse(stdout)).toEqual(['a b', 'session-1'])
  })
})
