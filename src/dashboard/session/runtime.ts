import type { Runtime } from '../generated/graphql.ts'

export const runtimeNames: Record<Runtime, string> = {
  CLAUDE_CODE: 'Claude Code',
  CODEX: 'Codex',
  OTHER: 'Other runtime',
}
