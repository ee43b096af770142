import type { RuntimeAdapter } from './adapter.ts'
import { isTable, own } from './parsed-document.ts'

/** `opencode.json` or `opencode.jsonc`. Seen with 1.18. */
export const opencode: RuntimeAdapter = {
  name: 'opencode',
  format: 'JSON',
  servers: ['mcp'],
  env: 'environment',
  command: 'array',
  // Without it a tool call ends after 60 s, the MCP SDK's own default.
  toolTimeout: { path: ['timeout'], unitMs: 1 },
}

/** Version 2 has the servers one level deeper and a limit per kind of request. */
export const opencode2: RuntimeAdapter = {
  ...opencode,
  servers: ['mcp', 'servers'],
  // In version 1 this would be a server that is called "servers".
  recognises: (servers) => own(servers, 'type') === undefined && Object.values(servers).every(isTable),
  toolTimeout: { path: ['timeout', 'request'], unitMs: 1 },
}
