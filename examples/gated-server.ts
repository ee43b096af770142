import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

/**
 * An MCP server whose one tool asks a person before it acts. All that it does is ask its client, as MCP has it; so it works in
 * any client that can ask its user. Where nobody sits before the client, put Holdpoint's bridge in front of it
 * (it needs Node 24, which `npm ci` brought):
 *
 *   { "mcpServers": { "tenants": { "command": "holdpoint", "args":
 *     ["bridge", "--", "<clone>/node_modules/.bin/node", "<clone>/examples/gated-server.ts"] } } }
 */
const tenants = new Set(['acme', 'acme-trial-17'])

/** A person may take their time; the SDK by itself gives up after a minute. */
const personMs = 24 * 60 * 60_000

const server = new McpServer({ name: 'tenants', version: '1.0.0' })

server.registerTool(
  'delete_tenant',
  { description: 'Deletes a tenant, after a person has agreed.', inputSchema: { tenant: z.string() } },
  async ({ tenant }) => {
    if (!tenants.has(tenant)) return say(`There is no tenant ${tenant}.`)
    const { action, content } = await server.server.elicitInput(
      {
        message: `Delete the tenant ${tenant} and all of its data? This cannot be undone.`,
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'boolean', title: 'Delete it?' } },
          required: ['confirm'],
        },
      },
      { timeout: personMs },
    )
    // Anything but a yes is a no; and a yes with the box unticked is one too.
    if (action !== 'accept' || content?.confirm !== true)
      return say(`The tenant ${tenant} was not deleted: the answer was ${action}.`)
    tenants.delete(tenant)
    return say(`The tenant ${tenant} was deleted.`)
  },
)

function say(text: string) {
  return { content: [{ type: 'text' as const, text }] }
}

await server.connect(new StdioServerTransport())
