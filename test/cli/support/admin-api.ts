import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

/** The published MCP server with the unmodified fallback client in it, as an entry of a config names it. */
export const mcpServerFile = join(
  dirname(require.resolve('pulsemcp-cms-admin-mcp-server/package.json')),
  'build',
  'index.js',
)

export interface AdminApi extends Disposable {
  /** What reached it: only what a person has accepted may. */
  calls: string[]
  /** The environment that an entry of the MCP server needs to work on it. */
  environment: Record<string, string>
}

/** A loopback stand-in for the API that the MCP server drives. */
export async function startAdminApi(): Promise<AdminApi> {
  const calls: string[] = []
  const api = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ success: true, message: 'The stand-in did it.' }))
  }).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const { port } = api.address() as { port: number }
  return {
    calls,
    environment: {
      PULSEMCP_ADMIN_API_KEY: 'x',
      PULSEMCP_ADMIN_API_URL: `http://127.0.0.1:${port}`,
      TOOL_GROUPS: 'tenants_destructive',
      ELICITATION_POLL_INTERVAL_MS: '1000',
    },
    [Symbol.dispose]() {
      api.closeAllConnections()
      api.close()
    },
  }
}
