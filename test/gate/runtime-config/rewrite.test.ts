import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { runtimeConfigCharactersMax, runtimeConfigServersMax } from '../../../src/base/limits.ts'
import { parseDotenv } from '../../../src/gate/dotenv.ts'
import type { Environment } from '../../../src/gate/environment.ts'
import type { ConfigFormat } from '../../../src/gate/runtime-config/config-document.ts'
import {
  type ConfigRuntime,
  type RewrittenServer,
  rewriteRuntimeConfig,
} from '../../../src/gate/runtime-config/rewrite.ts'
import { addressOf, environmentOf, rewrite, ttlMs } from './launch.ts'

const golden = new URL('../golden/', import.meta.url)

interface Case {
  file: string
  dotenv?: Environment
  /** The outcome of each server in turn: its tool time-out in ms, or what became of it. */
  servers: (number | null | 'remote' | 'skipped')[]
  warnings?: RegExp[]
}

const hour = 3_900_000

/** Every shape of every runtime; what each file is about stands in the file. */
const cases: Case[] = [
  { file: 'claude-code/merge.json', servers: [hour, hour, hour] },
  { file: 'claude-code/stale.json', servers: [hour] },
  {
    file: 'claude-code/dotenv-wins.json',
    dotenv: parseDotenv(
      'ELICITATION_REQUEST_URL=https://mine.example/e\nELICITATION_POLL_URL=" "\nELICITATION_TTL_MS=7200000\nTOKEN=not ours',
    ).variables,
    servers: [7_500_000],
  },
  {
    file: 'claude-code/remote.json',
    servers: ['remote', 'remote', 'remote', 'skipped', hour],
    warnings: [/skip the MCP server "untyped".*Add "type": "http"/],
  },
  {
    file: 'claude-code/odd-entries.json',
    servers: ['skipped', 'skipped', 'skipped', 'skipped', 'skipped', hour],
    warnings: [
      /"list" .*its "env" is not a table/,
      /"text" .*its "env" is not a table/,
      /"null" .*its "env" is not a table/,
      /"number" .*its command is not a string/,
      /"not-an-entry" .*its entry is not a table/,
    ],
  },
  { file: 'claude-code/comments.json', servers: [hour, hour, hour] },
  { file: 'claude-code/minified.json', servers: [hour, hour, hour] },
  { file: 'claude-code/tabs.json', servers: [hour, hour] },
  { file: 'claude-code/one-line.json', servers: [hour, hour, hour] },
  {
    file: 'claude-code/time-outs.json',
    servers: [hour, hour, 100_000_000, hour, null],
    warnings: [/"text" has a tool time-out that Holdpoint cannot read.*at least 65 minutes/],
  },
  { file: 'claude-code/names.json', servers: [hour, hour, 'remote', hour, hour] },
  { file: 'claude-code/twice.json', servers: [hour] },
  { file: 'codex/sub-tables.toml', servers: [hour, hour, hour, hour] },
  { file: 'codex/inline-tables.toml', servers: [hour, hour, hour, hour, hour] },
  { file: 'codex/dotted-keys.toml', servers: [hour, hour, hour, hour] },
  { file: 'codex/whole-inline.toml', servers: [hour, 'remote'] },
  { file: 'codex/forwarding.toml', servers: Array(9).fill(hour) },
  { file: 'codex/remote.toml', servers: ['remote', hour] },
  {
    file: 'codex/odd-entries.toml',
    servers: ['skipped', 'skipped', 'skipped', 'skipped', 'skipped', hour],
    warnings: [
      /"not_an_entry" .*its entry is not a table/,
      /"array" .*its "env" is not a table/,
      /"command" .*its command is not a string/,
      /"tables" .*its entry is not a table/,
      /"list_of_env" .*its "env" is not a table/,
    ],
  },
  { file: 'codex/names.toml', servers: Array(6).fill(hour) },
  {
    file: 'codex/time-outs.toml',
    servers: [hour, hour, 86_400_500, Number.POSITIVE_INFINITY, null],
    warnings: [/"text" has a tool time-out that Holdpoint cannot read/],
  },
  { file: 'codex/indented.toml', servers: [hour, hour] },
  { file: 'gemini-cli/settings.json', servers: [hour, 'remote', 'remote'] },
  { file: 'cursor/mcp.json', servers: [null, 'remote'] },
  { file: 'vs-code/mcp.json', servers: [null, 'remote'] },
  {
    file: 'opencode/version-1.json',
    servers: [hour, hour, 'remote', 'skipped', 'skipped'],
    warnings: [/"string" .*its command is not a list of strings/],
  },
  {
    file: 'opencode/version-2.json',
    servers: [hour, hour, null, 'remote'],
    warnings: [/"number" has a tool time-out that Holdpoint cannot read/],
  },
  {
    file: 'other/generic.json',
    servers: [null],
    warnings: [/does not know how this runtime limits a tool call.*65 minutes/],
  },
]

function load(file: string) {
  const [, directory = '', name = '', extension = ''] = /^(.*)\/(.*)\.(.*)$/.exec(file) ?? []
  const read = (kind: string) =>
    readFileSync(new URL(`${directory}/${name}.${kind}.${extension}`, golden), 'utf8')
  return {
    runtime: directory.replaceAll('-', '_') as ConfigRuntime,
    format: extension.toUpperCase() as ConfigFormat,
    input: read('in'),
    output: read('out'),
  }
}

function outcome(server: RewrittenServer) {
  return server.kind === 'stdio' ? server.toolTimeoutMs : server.kind
}

describe.each(cases)('$file', ({ file, dotenv = {}, servers, warnings = [] }) => {
  const { runtime, format, input, output } = load(file)

  it('is rewritten as in the golden file', () => {
    const result = rewrite(runtime, format, input, dotenv)
    expect(result.text).toBe(output)
    expect(result.changed).toBe(true)
    expect(result.servers.map(outcome)).toEqual(servers)
    expect(result.warnings).toEqual(warnings.map((warning) => expect.stringMatching(warning)))
  })

  it('stays as it is when it is rewritten again', () => {
    const again = rewrite(runtime, format, output, dotenv)
    expect(again.text).toBe(output)
    expect(again.changed).toBe(false)
    expect(again.servers.map(outcome)).toEqual(servers)
  })

  it('keeps CRLF line endings and a byte order mark', () => {
    const crlf = (text: string) => text.replaceAll('\n', '\r\n')
    expect(rewrite(runtime, format, crlf(input), dotenv).text).toBe(crlf(output))
    expect(rewrite(runtime, format, `\uFEFF${crlf(input)}`, dotenv).text).toBe(`\uFEFF${crlf(output)}`)
    expect(rewrite(runtime, format, `\uFEFF${input}`, dotenv).text).toBe(`\uFEFF${output}`)
  })
})

it('has a golden file for every case and a case for every golden file', () => {
  const files = readdirSync(golden, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.includes('.in.'),
  )
  expect(files.map((file) => file.replace('.in.', '.')).sort()).toEqual(cases.map(({ file }) => file).sort())
})

describe('a rewritten server', () => {
  it('has an address of its own, and tells it', () => {
    const { servers } = rewrite(
      'claude_code',
      'JSON',
      '{"mcpServers":{"a":{"command":"x"},"b":{"command":"x"}}}',
    )
    expect(servers).toEqual([
      { name: 'a', kind: 'stdio', requestUrl: addressOf('a'), fromDotenv: [], toolTimeoutMs: hour },
      { name: 'b', kind: 'stdio', requestUrl: addressOf('b'), fromDotenv: [], toolTimeoutMs: hour },
    ])
    expect(addressOf('a')).not.toBe(addressOf('b'))
  })

  it('tells which of its variables the .env decided', () => {
    const { dotenv = {} } = cases.find(({ file }) => file.includes('dotenv')) ?? {}
    const { servers } = rewrite('claude_code', 'JSON', '{"mcpServers":{"a":{"command":"x"}}}', dotenv)
    expect(servers).toEqual([
      {
        name: 'a',
        kind: 'stdio',
        requestUrl: 'https://mine.example/e',
        fromDotenv: ['ELICITATION_REQUEST_URL', 'ELICITATION_TTL_MS'],
        toolTimeoutMs: 7_500_000,
      },
    ])
  })

  it('is asked for its environment once, and a server that is left alone never', () => {
    const asked: string[] = []
    const text =
      '{"mcpServers":{"a":{"command":"x"},"r":{"type":"http","url":"u"},"bad":{"command":"x","env":1},"b":{"command":"x"}}}'
    const environmentFor = (name: string) => {
      asked.push(name)
      return environmentOf(name)
    }
    rewriteRuntimeConfig({ runtime: 'claude_code', format: 'JSON', text, environmentFor, dotenv: {}, ttlMs })
    expect(asked).toEqual(['a', 'b'])
  })

  it('gets the five variables and nothing else that its environment may hold', () => {
    const environmentFor = () => ({ ...environmentOf('a'), ELICITATION_ENABLED: 'false', PATH: '/evil' })
    const text = '{"mcpServers":{"a":{"command":"x"}}}'
    const result = rewriteRuntimeConfig({
      runtime: 'claude_code',
      format: 'JSON',
      text,
      environmentFor,
      dotenv: {},
      ttlMs,
    })
    expect(Object.keys(JSON.parse(result.text).mcpServers.a.env)).toEqual(Object.keys(environmentOf('a')))
  })

  it('waits as long as the client can, when the .env gives it more than the server does', () => {
    const text = '{"mcpServers":{"a":{"command":"x"}}}'
    const timeout = (ELICITATION_TTL_MS: string) =>
      JSON.parse(rewrite('claude_code', 'JSON', text, { ELICITATION_TTL_MS }).text).mcpServers.a.timeout
    expect(timeout('86400000')).toBe(86_700_000)
    expect(timeout('1000')).toBe(hour)
    expect(timeout('soon')).toBe(hour)
    // The most that a timer takes.
    expect(timeout('999999999999')).toBe(2_147_483_647)
  })

  it('writes a value of any characters in a way that reads back the same', () => {
    const odd = 'a"b\\c\td\u0001e\u007ff\u2028g\u{1f512}h'
    const dotenv = { ELICITATION_SESSION_ID: odd }
    const json = rewrite('claude_code', 'JSON', '{"mcpServers":{"a":{"command":"x"}}}', dotenv)
    expect(JSON.parse(json.text).mcpServers.a.env.ELICITATION_SESSION_ID).toBe(odd)
    const toml = rewrite('codex', 'TOML', '[mcp_servers.a]\ncommand = "x"\n', dotenv)
    expect(toml.changed).toBe(true)
    expect(rewrite('codex', 'TOML', toml.text, dotenv)).toMatchObject({ changed: false, warnings: [] })
  })
})

describe('a config that is left byte for byte as it was', () => {
  const deep = (open: string, close: string) => open.repeat(200_000) + close.repeat(200_000)

  it.each<[string, ConfigRuntime, ConfigFormat, string, RegExp]>([
    [
      'cut off',
      'claude_code',
      'JSON',
      '{"mcpServers": {"a": {"command": "x"',
      /could not be read as JSON \(\w+ at line 1, column 37\)/,
    ],
    [
      'with a second value',
      'claude_code',
      'JSON',
      '{}\r\n{"a":1}',
      /could not be read as JSON \(\w+ at line 2, column 1\)/,
    ],
    ['with single quotes', 'claude_code', 'JSON', "{'mcpServers': {}}", /could not be read as JSON/],
    ['of comments only', 'claude_code', 'JSON', '// nothing\n', /could not be read as JSON/],
    ['that is a list', 'claude_code', 'JSON', '[{"command": "x"}]', /is not a table/],
    ['that is null', 'claude_code', 'JSON', 'null', /is not a table/],
    [
      'whose servers are a list',
      'claude_code',
      'JSON',
      '{"mcpServers": [{"command": "x"}]}',
      /"mcpServers" .* is not a table/,
    ],
    ['nested too deeply', 'claude_code', 'JSON', deep('[', ']'), /nested too deeply/],
    [
      'nested too deeply in objects',
      'claude_code',
      'JSON',
      deep('{"a":', '}'),
      /could not be read|nested too deeply/,
    ],
    [
      'with a broken line',
      'codex',
      'TOML',
      '[mcp_servers.a]\ncommand = \n',
      /could not be read as TOML \(.* at line 2, column 11\)/,
    ],
    [
      'with a table twice',
      'codex',
      'TOML',
      '[mcp_servers.a]\n[mcp_servers.a]\n',
      /could not be read as TOML/,
    ],
    ['with a name twice', 'codex', 'TOML', 'a = 1\na = 2\n', /could not be read as TOML/],
    ['of JSON in TOML', 'codex', 'TOML', '{"mcpServers": {}}', /could not be read as TOML/],
    ['nested too deeply', 'codex', 'TOML', `a = ${deep('[', ']')}`, /could not be read as TOML/],
    [
      'whose servers are a list',
      'codex',
      'TOML',
      '[[mcp_servers]]\ncommand = "x"\n',
      /"mcp_servers" .* is not a table/,
    ],
    [
      'in the other format',
      'codex',
      'JSON',
      '{"mcpServers": {"a": {"command": "x"}}}',
      /Codex reads TOML, and the MCP config is JSON/,
    ],
    [
      'in the other format',
      'claude_code',
      'TOML',
      '[mcp_servers.a]\ncommand = "x"',
      /Claude Code reads JSON, and the MCP config is TOML/,
    ],
    [
      'above the limit',
      'claude_code',
      'JSON',
      `${' '.repeat(runtimeConfigCharactersMax)}{}`,
      /more than 8 MiB/,
    ],
  ])('%s (%s, %s), with a warning that says so', (_, runtime, format, text, warning) => {
    for (const given of [text, `\uFEFF${text}`]) {
      const result = rewrite(runtime, format, given)
      expect(result.text).toBe(given)
      expect(result).toMatchObject({
        changed: false,
        servers: [],
        warnings: [expect.stringMatching(warning)],
      })
      expect(result.warnings[0]).toContain("its MCP servers do not know this session's gate")
    }
  })

  it.each<[string, ConfigRuntime, ConfigFormat, string]>([
    ['empty', 'claude_code', 'JSON', ''],
    ['empty', 'codex', 'TOML', ''],
    ['blank', 'claude_code', 'JSON', ' \r\n\t'],
    ['a byte order mark alone', 'codex', 'TOML', '\uFEFF'],
    ['without servers', 'claude_code', 'JSON', '{ "hooks": {} }'],
    ['without servers', 'codex', 'TOML', '# nothing\nmodel = "x"\n'],
    ['with no server in its table', 'claude_code', 'JSON', '{"mcpServers": {}}'],
    ['with no server in its table', 'codex', 'TOML', '[mcp_servers]\n'],
    ['without servers', 'other', 'JSON', '{ "a": 1 }'],
    [
      'with its servers under a name that objects have',
      'claude_code',
      'JSON',
      '{"__proto__": {"mcpServers": {"a": {"command": "x"}}}}',
    ],
  ])('%s (%s, %s), and nothing to warn of', (_, runtime, format, text) => {
    expect(rewrite(runtime, format, text)).toEqual({ text, changed: false, servers: [], warnings: [] })
  })
})

describe('a runtime that nobody knows', () => {
  it.each<[string, ConfigFormat, string]>([
    ['VS Code', 'JSON', '{"servers":{"a":{"type":"stdio","command":"x"}}}'],
    ['opencode', 'JSON', '{"mcp":{"a":{"type":"local","command":["x"]}}}'],
    ['Codex', 'TOML', '[mcp_servers.a]\ncommand = "x"\n'],
  ])('is told by a config like that of %s', (_, format, text) => {
    const result = rewrite('other', format, text)
    expect(result.servers).toMatchObject([{ name: 'a', kind: 'stdio' }])
    expect(result.text).toContain(addressOf('a'))
  })

  it('gets no time-out where the unit is not known, and nobody is warned when there is no stdio server', () => {
    const remote = '{"mcpServers":{"a":{"url":"https://x.example"}}}'
    expect(rewrite('other', 'JSON', remote)).toMatchObject({ changed: false, warnings: [] })
  })
})

describe('a config of 5 MB', () => {
  const names = Array.from({ length: runtimeConfigServersMax }, (_, index) => `server-${index}`)
  const padding = 'x'.repeat(5_100)
  const rule = '"ELICITATION_TTL_MS"'

  it.each<[string, ConfigRuntime, ConfigFormat, string]>([
    [
      'a thousand servers',
      'claude_code',
      'JSON',
      `{\n  "mcpServers": {\n${names.map((name) => `    "${name}": {\n      "command": "x", // ${padding}\n      "env": { "A": "1" }\n    }`).join(',\n')}\n  }\n}\n`,
    ],
    [
      'a thousand servers on one line',
      'claude_code',
      'JSON',
      `{"mcpServers":{${names.map((name) => `"${name}":{"command":"${padding}","env":{}}`).join(',')}}}`,
    ],
    [
      'one long text',
      'claude_code',
      'JSON',
      `{"big":"${padding.repeat(1_000)}","mcpServers":{"a":{"command":"x"}}}`,
    ],
    [
      'a thousand servers',
      'codex',
      'TOML',
      names.map((name) => `[mcp_servers.${name}]\ncommand = "x" # ${padding}\nenv.A = "1"\n`).join('\n'),
    ],
    [
      'a thousand servers on one line',
      'codex',
      'TOML',
      `mcp_servers = {${names.map((name) => `${name} = {command="${padding}",env={}}`).join(',')}}`,
    ],
    [
      'one long list',
      'codex',
      'TOML',
      `[mcp_servers.a]\ncommand = "x"\nargs = [\n${`  "${padding}", # c\n`.repeat(1_000)}]\n`,
    ],
    [
      'rules to drop on one line',
      'codex',
      'TOML',
      `[mcp_servers.a]\ncommand = "x"\nenv_vars = [${Array(230_000).fill(rule).join(', ')}, "A"]\n`,
    ],
    // A second or two on an idle machine; looking through the text again for each place takes many minutes.
  ])(
    'of %s is rewritten within the time of a launch (%s, %s)',
    { timeout: 120_000 },
    (_, runtime, format, text) => {
      expect(text.length).toBeGreaterThan(5_000_000)
      const result = rewrite(runtime, format, text)
      expect(result.warnings).toEqual([])
      expect(result.servers.every(({ kind }) => kind === 'stdio')).toBe(true)
      expect(result.text).toContain(addressOf(result.servers.at(-1)?.name ?? ''))
      expect(result.text.includes(rule)).toBe(format === 'JSON')
    },
  )

  it('may name a thousand servers, and is left as it was with one more', () => {
    const config = (count: number) =>
      JSON.stringify({
        mcpServers: Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, { command: 'x' }])),
      })
    expect(rewrite('claude_code', 'JSON', config(runtimeConfigServersMax)).changed).toBe(true)
    const text = config(runtimeConfigServersMax + 1)
    expect(rewrite('claude_code', 'JSON', text)).toEqual({
      text,
      changed: false,
      servers: [],
      warnings: [expect.stringMatching(/more than 1000 MCP servers/)],
    })
  })
})

it('leaves a TOML of keys that are thousands of parts deep as it was', () => {
  const text = `a${'.a'.repeat(20_000)} = 1\n[b${'.b'.repeat(20_000)}]\nc = 1\n[mcp_servers.a]\ncommand = "x"\n`
  const result = rewrite('codex', 'TOML', text)
  expect(result).toMatchObject({ text, changed: false, servers: [{ name: 'a', kind: 'skipped' }] })
  expect(result.warnings).toEqual([expect.stringMatching(/cannot edit safely/)])
})
