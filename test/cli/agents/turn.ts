import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

export interface ServerEntry {
  command: string
  args?: string[]
  env?: Record<string, string>
}

/**
 * One turn of an agent without a model: it starts an MCP server, calls `delete_tenant` and prints what came of it. Like the
 * headless runtimes it claims to answer elicitations itself, and declines them all at once. SIGUSR2 makes it exit in the midst.
 */
export async function takeTurn(server: ServerEntry, environment: Record<string, string>): Promise<void> {
  const code = Number(process.env.AGENT_EXIT_CODE ?? 0)
  process.on('SIGUSR2', () => process.exit(code))
  const client = new Client({ name: 'stub-agent', version: '1.0.0' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'decline' as const }))
  const transport = new StdioClientTransport({
    command: server.command,
    args: server.args,
    env: environment,
    stderr: 'ignore',
  })
  await client.connect(transport)
  say({ agent: process.pid, server: transport.pid })
  const result = await client.callTool(
    { name: 'delete_tenant', arguments: { tenant_id_or_slug: 'acme', id_or_slug: 'acme' } },
    undefined,
    { timeout: 120_000 },
  )
  say({ result: (result.content as { text: string }[]).map(({ text }) => text).join(' ') })
  await client.close()
  process.exit(code)
}

export function say(facts: object): void {
  process.stdout.write(`${JSON.stringify(facts)}\n`)
}
