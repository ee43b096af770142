import type { RuntimeAdapter } from './adapter.ts'

/** `.cursor/mcp.json`. It documents no limit of a tool call that could be set. */
export const cursor: RuntimeAdapter = {
  name: 'Cursor',
  format: 'JSON',
  servers: ['mcpServers'],
  env: 'env',
  command: 'string',
  toolTimeout: null,
}
