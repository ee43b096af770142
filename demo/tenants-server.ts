import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const require = createRequire(import.meta.url)

/** A person may take their time; the MCP client must not be the one to give up. */
const personMs = 24 * 60 * 60_000

/** A published MCP server with the unmodified fallback client in it, and a loopback stand-in for the API that it drives. */
export interface TenantsServer extends AsyncDisposable {
  /** Calls a tool and gives the text of its result. */
  call(tool: string, args: Record<string, unknown>): Promise<string>
  /** What reached the API: only what a person accepted may. */
  calls: string[]
}

export async function startTenantsServer(environment: Record<string, string>): Promise<TenantsServer> {
  const calls: string[] = []
  const api = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ success: true, message: 'The stand-in did it.' }))
  }).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const { port } = api.address() as { port: number }

  const folder = dirname(require.resolve('pulsemcp-cms-admin-mcp-server/package.json'))
  const client = new Client({ name: 'holdpoint-demo', version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(folder, 'build', 'index.js')],
      stderr: 'ignore',
      env: {
        PATH: process.env.PATH ?? '',
        PULSEMCP_ADMIN_API_KEY: 'x',
        PULSEMCP_ADMIN_API_URL: `http://127.0.0.1:${port}`,
        TOOL_GROUPS: 'tenants_destructive,api_keys_destructive',
        ELICITATION_POLL_INTERVAL_MS: '1000',
        ...environment,
      },
    }),
  )
  return {
    calls,
    async call(name, args) {
      const result = await client.callTool({ name, arguments: args }, undefined, { timeout: personMs })
      return (result.content as { text: string }[]).map(({ text }) => text).join('\n')
    },
    async [Symbol.asyncDispose]() {
      await client.close()
      api.closeAllConnections()
      api.close()
    },
  }
}
