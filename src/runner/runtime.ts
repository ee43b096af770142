import { basename } from 'node:path'
import type { Runtime } from '../database/generated/prisma/enums.ts'
import { planClaudeCode } from './claude-code.ts'
import { planCodex } from './codex.ts'
import type { LaunchPlan, LaunchSettings } from './launch-plan.ts'
import { planOther } from './other-runtime.ts'

export type { Runtime }

const planners: Record<Runtime, (settings: LaunchSettings) => Promise<LaunchPlan>> = {
  claude_code: planClaudeCode,
  codex: planCodex,
  other: planOther,
}

const programs: [RegExp, Runtime][] = [
  [/^claude(\.(exe|cmd))?$|^@anthropic-ai\/claude-code(@|$)/, 'claude_code'],
  [/^codex(\.(exe|cmd))?$|^@openai\/codex(@|$)/, 'codex'],
]

export function planLaunch(runtime: Runtime, settings: LaunchSettings): Promise<LaunchPlan> {
  return planners[runtime](settings)
}

/** Which runtime a command starts: by the name of its program, also behind npx and the like. */
export function runtimeOf(command: readonly string[]): Runtime {
  const [program = '', ...rest] = command
  const viaPackage = /^(npx|bunx|pnpx)$/.test(basename(program))
  const name = viaPackage ? (rest.find((word) => !word.startsWith('-')) ?? '') : basename(program)
  return programs.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
}
