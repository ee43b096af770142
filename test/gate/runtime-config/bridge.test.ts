import { describe, expect, it } from 'vitest'
import { bridgeRuntimeConfig } from '../../../src/gate/runtime-config/bridge.ts'

const bridge = ['/usr/bin/node', '/opt/holdpoint/src/cli/holdpoint.ts', 'bridge'] as const
const json = (text: string, runtime: 'claude_code' | 'other' = 'claude_code') =>
  bridgeRuntimeConfig({ runtime, format: 'JSON', text, bridge })
const toml = (text: string) => bridgeRuntimeConfig({ runtime: 'codex', format: 'TOML', text, bridge })

describe('the bridge in a runtime’s MCP config', () => {
  it('stands before each stdio server, with everything else in the file as it was', () => {
    const { text, bridged, warnings } = json(`{
  // ours
  "mcpServers": {
    "tickets": {
      "command": "node", // the server
      "args": ["srv.js", "--flag"],
      "env": {"TOKEN": "\${T}"},
      "timeout": 5
    },
    "bare": {"command": "bare-server"},
    "remote": {"type": "http", "url": "https://x.example/mcp"}
  }
}
`)
    expect(text).toBe(`{
  // ours
  "mcpServers": {
    "tickets": {
      "command": "/usr/bin/node", // the server
      "args": ["/opt/holdpoint/src/cli/holdpoint.ts", "bridge", "--server=tickets", "--", "node", "srv.js", "--flag"],
      "env": {"TOKEN": "\${T}"},
      "timeout": 5
    },
    "bare": {"command": "/usr/bin/node", "args": ["/opt/holdpoint/src/cli/holdpoint.ts", "bridge", "--server=bare", "--", "bare-server"]},
    "remote": {"type": "http", "url": "https://x.example/mcp"}
  }
}
`)
    expect([bridged, warnings]).toEqual([['tickets', 'bare'], []])
  })

  it('is put in once, however often', () => {
    const once = json('{"mcpServers":{"a":{"command":"x","args":["1"]}}}')
    expect(json(once.text)).toEqual({ text: once.text, changed: false, bridged: [], warnings: [] })
    const first = toml('[mcp_servers.a]\ncommand = "x"\n')
    expect(toml(first.text)).toEqual({ text: first.text, changed: false, bridged: [], warnings: [] })
  })

  it.each([
    ['holdpoint', ['mcp']],
    ['npx', ['-y', 'holdpoint', 'mcp']],
    ['/usr/local/bin/holdpoint', ['bridge', '--', 'x']],
    ['node', ['/opt/holdpoint/bin/holdpoint.js', 'mcp']],
  ])('never stands before Holdpoint itself: %s %j', (command, args) => {
    const text = JSON.stringify({ mcpServers: { own: { command, args } } })
    expect(json(text)).toMatchObject({ text, changed: false })
  })

  it('is written as Codex and opencode read it', () => {
    expect(
      toml(
        '# ours\n[mcp_servers."a.b"]\ncommand = "node" # x\nargs = [\n  "srv.js", # first\n]\ncwd = "/srv"\n',
      ).text,
    ).toBe(
      '# ours\n[mcp_servers."a.b"]\ncommand = "/usr/bin/node" # x\nargs = ["/opt/holdpoint/src/cli/holdpoint.ts", "bridge", "--server=a.b", "--", "node", "srv.js"]\ncwd = "/srv"\n',
    )
    expect(toml('mcp_servers.a = { command = "x" }\n').text).toContain('command = "/usr/bin/node"')
    expect(
      JSON.parse(json('{"mcp": {"a": {"type": "local", "command": ["x", "1"]}}}', 'other').text),
    ).toEqual({
      mcp: { a: { type: 'local', command: [...bridge, '--server=a', '--', 'x', '1'] } },
    })
  })

  it('keeps names that look like options, or like properties of every object, as names', () => {
    const { text } = json('{"mcpServers":{"--version":{"command":"x"},"__proto__":{"command":"y"}}}')
    expect(text).toContain('"--server=--version", "--", "x"')
    expect(text).toContain('"--server=__proto__", "--", "y"')
  })

  it.each([
    ['what is no JSON', '{"mcpServers":'],
    ['arguments that are no list of strings', '{"mcpServers":{"a":{"command":"x","args":[1]}}}'],
    ['arguments that are a text', '{"mcpServers":{"a":{"command":"x","args":"1"}}}'],
  ])('leaves %s byte for byte, and says so', (_, text) => {
    const result = json(text)
    expect(result).toMatchObject({ text, changed: false })
    expect(result.warnings.join()).toMatch(/without the bridge/)
  })

  it.each(['', '{}', '[]', '{"mcpServers":[]}', '{"mcpServers":{"a":7,"b":{"command":["x"]}}}'])(
    'has nothing to do in %j',
    (text) => {
      expect(json(text)).toEqual({ text, changed: false, bridged: [], warnings: [] })
    },
  )
})
