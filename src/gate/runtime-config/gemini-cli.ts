import type { RuntimeAdapter } from './adapter.ts'

/** `.gemini/settings.json`. Seen with 0.61. */
export const geminiCli: RuntimeAdapter = {
  name: 'Gemini CLI',
  format: 'JSON',
  servers: ['mcpServers'],
  env: 'env',
  command: 'string',
  // 600,000 by default.
  toolTimeout: { path: ['timeout'], unitMs: 1 },
}
