import type { RuntimeAdapter } from './adapter.ts'
import { own } from './parsed-document.ts'

/** `.mcp.json`, or any file given to `--mcp-config`. Seen with 2.1.197 and 2.1.332. */
export const claudeCode: RuntimeAdapter = {
  name: 'Claude Code',
  format: 'JSON',
  servers: ['mcpServers'],
  env: 'env',
  command: 'string',
  // Lifts both limits: the hard one of 28 h, and the one of 30 minutes without progress.
  toolTimeout: { path: ['timeout'], unitMs: 1 },
  // Measured from 2.1.219 on: the entry is taken for a stdio server without a command and dropped.
  entryWarning: (serverName, entry) =>
    own(entry, 'url') !== undefined && own(entry, 'type') === undefined
      ? `Claude Code will skip the MCP server ${JSON.stringify(serverName)}: its entry has a "url" but no "type". ` +
        'Add "type": "http" (or "sse") to the entry.'
      : null,
}
