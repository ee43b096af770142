import { spawn } from 'node:child_process'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

/** An MCP server of revision 2025-11-25 that asks its client in the middle of a call. */
const server = new McpServer({ name: 'legacy', version: '1.0.0' })
const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] })
const requestedSchema = {
  type: 'object' as const,
  properties: {
    confirm: { type: 'boolean' as const },
    region: { type: 'string' as const, enum: ['eu', 'us'] },
  },
  required: ['confirm'],
}

function ask(message: string, timeout = 110_000) {
  return server.server.elicitInput({ message, requestedSchema }, { timeout })
}

server.registerTool('delete_tenant', { inputSchema: { tenant: z.string() } }, async ({ tenant }) => {
  try {
    return text(await ask(`Delete the tenant ${tenant}?`))
  } catch (error) {
    return text({ failed: String(error) })
  }
})
server.registerTool('impatient', {}, async () => {
  try {
    return text(await ask('Quick?', 300))
  } catch (error) {
    return text({ failed: String(error) })
  }
})
server.registerTool('visit', {}, async () =>
  text(
    await server.server.elicitInput({
      mode: 'url',
      message: 'Sign in',
      url: 'https://id.example.org/x',
      elicitationId: 'e-1',
    }),
  ),
)
server.registerTool('facts', {}, async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  const names = Object.keys(process.env).filter((name) => name.startsWith('HOLDPOINT_'))
  return text({
    pid: process.pid,
    child: child.pid,
    capabilities: server.server.getClientCapabilities(),
    names,
  })
})
server.registerTool('crash', {}, () => process.exit(3))

await server.connect(new StdioServerTransport())
process.stdin.on('end', () => process.exit(0))
