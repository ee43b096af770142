import { takeOption } from './command-line.ts'

/** How the permission prompts of Claude Code get to Holdpoint's own MCP server. */
export interface PermissionPlan {
  /** The options without a `--permission-prompt-tool` of the command's own. */
  rest: string[]
  ours: string[]
  /** By which Holdpoint's MCP server goes in the config. */
  serverName: string
  /** Its tools that ask a person themselves: nobody is to be asked whether they may be asked. */
  allow: string[]
  notices: string[]
}

/** `taken`: the names that other servers have. */
export function planPermissions(options: readonly string[], taken: ReadonlySet<string>): PermissionPlan {
  let serverName = 'holdpoint'
  for (let count = 2; taken.has(serverName); count++) serverName = `holdpoint_${count}`
  const { values, rest } = takeOption(options, '--permission-prompt-tool')
  const notices: string[] = []
  if (values.length > 0)
    notices.push(
      `--approve-tools stands in for the --permission-prompt-tool ${values.at(-1)} of the command: one tool can be asked.`,
    )
  const never = neverAsking(rest)
  if (never !== null)
    notices.push(
      `With ${never} Claude Code asks for no permission, so --approve-tools has nothing to ask. Leave it out.`,
    )
  if (!isPrintMode(rest))
    notices.push(
      'Without --print Claude Code asks for permissions at its own terminal, whatever --approve-tools says.',
    )
  const toolOf = (tool: string) => `mcp__${serverName}__${tool}`
  return {
    rest,
    ours: ['--permission-prompt-tool', toolOf('approve_tool_use')],
    serverName,
    allow: ['ask_person', 'await_answer'].map(toolOf),
    notices,
  }
}

/** Whether Claude Code is to print an answer and end, with nobody at its terminal. */
export function isPrintMode(options: readonly string[]): boolean {
  return options.some((each) => each === '-p' || each === '--print')
}

/** What keeps Claude Code from asking, as the command says it; null when nothing does. */
function neverAsking(options: readonly string[]): string | null {
  const skip = '--dangerously-skip-permissions'
  if (options.includes(skip)) return skip
  for (const [name, value] of [
    ['--permission-mode', 'bypassPermissions'],
    ['--permission-prompts', 'none'],
  ] as const)
    if (takeOption(options, name).values.at(-1) === value) return `${name} ${value}`
  return null
}
