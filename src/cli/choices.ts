import type { Runtime } from '../runner/runtime.ts'
import { exitCodes, Problem } from './problem.ts'

/** What words a command takes, apart from the commands: these are loaded only when they are given. */

export const actions = ['accept', 'decline', 'cancel'] as const
export type ActionWord = (typeof actions)[number]

export const roles = ['viewer', 'responder', 'launcher', 'operator', 'admin'] as const
export type RoleWord = (typeof roles)[number]

const runtimes: Readonly<Record<string, Runtime>> = {
  claude: 'claude_code',
  claude_code: 'claude_code',
  codex: 'codex',
  other: 'other',
}

/** `claude-code`, `codex` or `other`, as people write them. */
export function parseRuntime(text: string): Runtime {
  const name = text.toLowerCase().replaceAll('-', '_')
  if (Object.hasOwn(runtimes, name)) return runtimes[name]!
  throw new Problem(
    `There is no runtime ${JSON.stringify(text)}. Choose claude-code, codex or other.`,
    exitCodes.usage,
  )
}
