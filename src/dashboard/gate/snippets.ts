/** What an agent's MCP servers are told, and how it stands in the runtimes' own files. */
export type GateFacts = { collectionUrl: string; expirationMs: number; sessionId: string | null }

export type Variable = { name: string; value: string }

const sessionPlaceholder = '<session id>'

/** The runtime's own patience has to outlast the person's. */
const marginMs = 5 * 60_000

export function spawnVariables({ collectionUrl, expirationMs, sessionId }: GateFacts): Variable[] {
  return [
    { name: 'ELICITATION_REQUEST_URL', value: collectionUrl },
    { name: 'ELICITATION_POLL_URL', value: collectionUrl },
    { name: 'ELICITATION_PREFER_HTTP_FALLBACK', value: 'true' },
    { name: 'ELICITATION_TTL_MS', value: String(expirationMs) },
    { name: 'ELICITATION_SESSION_ID', value: sessionId ?? sessionPlaceholder },
  ]
}

export function shellSnippet(facts: GateFacts): string {
  return spawnVariables(facts)
    .map(({ name, value }) => `export ${name}='${value}'`)
    .join('\n')
}

/** `.mcp.json`; `timeout` is in milliseconds. */
export function claudeCodeSnippet(facts: GateFacts): string {
  const server = {
    command: 'your-mcp-server',
    env: Object.fromEntries(spawnVariables(facts).map(({ name, value }) => [name, value])),
    timeout: facts.expirationMs + marginMs,
  }
  return JSON.stringify({ mcpServers: { example: server } }, null, 2)
}

/** `config.toml`; the time-out is in seconds. */
export function codexSnippet(facts: GateFacts): string {
  return [
    '[mcp_servers.example]',
    'command = "your-mcp-server"',
    `tool_timeout_sec = ${Math.ceil((facts.expirationMs + marginMs) / 1000)}`,
    '',
    '[mcp_servers.example.env]',
    ...spawnVariables(facts).map(({ name, value }) => `${name} = ${JSON.stringify(value)}`),
  ].join('\n')
}
