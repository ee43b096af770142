import type { RuntimeAdapter } from './adapter.ts'

/** `.vscode/mcp.json`. It documents no limit of a tool call that could be set. */
export const vsCode: RuntimeAdapter = {
  name: 'VS Code',
  format: 'JSON',
  servers: ['servers'],
  env: 'env',
  command: 'string',
  toolTimeout: null,
}
