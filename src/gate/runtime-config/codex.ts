import type { RuntimeAdapter } from './adapter.ts'

/** `.codex/config.toml` of a trusted project, or `$CODEX_HOME/config.toml`. Seen with 0.171. */
export const codex: RuntimeAdapter = {
  name: 'Codex',
  format: 'TOML',
  servers: ['mcp_servers'],
  // Codex passes hardly anything of its own environment on: this table is the only way that reaches a server.
  env: 'env',
  command: 'string',
  // 300 s by default, and it runs on while a server polls for a person's answer.
  toolTimeout: { path: ['tool_timeout_sec'], unitMs: 1000 },
  forwarding: 'env_vars',
}
