import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type CallToolResult, McpError } from '@modelcontextprotocol/sdk/types.js'
import manifest from '../../package.json' with { type: 'json' }
import { AskError } from './asker.ts'
import { type BoundTool, listingOf, type Tool } from './tool.ts'

export interface RemoteDesk {
  /** A tool that runs on the server, by whose rules and words its calls are answered. */
  bind(tool: Tool<never>): BoundTool
  close(): Promise<void>
}

/** The tools of a Holdpoint server, called over its MCP endpoint with a key. */
export function createRemoteDesk({ url, apiKey }: { url: string; apiKey: string }): RemoteDesk {
  let connecting: Promise<Client> | null = null

  async function connect(): Promise<Client> {
    const client = new Client({ name: 'holdpoint-stdio', version: manifest.version })
    const headers = { 'x-api-key': apiKey }
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
    )
    return client
  }

  return {
    bind: (tool) => ({
      listing: listingOf(tool),
      async call(args, { signal }) {
        try {
          connecting ??= connect()
          const client = await connecting
          return (await client.callTool(
            { name: tool.name, arguments: args as Record<string, unknown> },
            undefined,
            {
              signal,
            },
          )) as CallToolResult
        } catch (error) {
          if (error instanceof McpError) throw error
          connecting = null
          throw problemOf(error, url)
        }
      },
    }),
    async close() {
      await (await connecting?.catch(() => null))?.close()
    },
  }
}

function problemOf(error: unknown, url: string): AskError {
  const status = error instanceof StreamableHTTPError ? error.code : undefined
  if (status === 401)
    return new AskError(
      'UNAUTHENTICATED',
      'The API key is unknown, expired or revoked. Set HOLDPOINT_API_KEY to another one.',
      { cause: error },
    )
  if (status === 429)
    return new AskError(
      'RATE_LIMITED',
      'Too many requests of this key are open. Call the tool again in a moment.',
      { cause: error },
    )
  return new AskError(
    'UNREACHABLE',
    `Holdpoint cannot be reached at ${url}. Nothing was changed; call the tool again in a moment.`,
    { cause: error },
  )
}
