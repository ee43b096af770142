import { isBlank } from './dotenv.ts'
import { type Environment, environmentOf } from './environment.ts'
import { spawnVariables } from './spawn-environment.ts'

export interface ChildSettings {
  /** The session's `.env`: it may set any name again, ours and a parent agent's too. */
  dotenv: Readonly<Environment>
  /** From `spawnEnvironment`, for this session. */
  spawn: Readonly<Environment>
  /**
   * `HOLDPOINT_*` variables for this agent: its session-bound key, and the address that goes with it. Values, not
   * names, so that the key that the launcher itself carries can never slip through.
   */
  keep?: Readonly<Environment>
  /** What Holdpoint put into its own environment (such as the embedded database's address), by name and value. */
  placed?: Readonly<Environment>
}

/**
 * What runtimes put into the environment of the processes that they start. They say "you are inside this session":
 * a runtime that finds them takes itself for a child (Claude Code then saves no transcript), talks to the parent's
 * socket, or believes in a sandbox that is not there. Named one by one, because the same prefixes carry what a
 * person configures (`CLAUDE_CONFIG_DIR`, `CLAUDE_CODE_OAUTH_TOKEN`, `CLAUDE_CODE_USE_BEDROCK`, `CODEX_HOME`), and
 * that has to stay. Sources: the environments that Claude Code 2.1.332, Codex 0.171 and
 * opencode 1.18 were seen to give, and what their own code and their hosts name.
 */
const parentSession = new Set([
  'AI_AGENT',
  'CLAUDECODE',
  'CLAUDE_AGENT_SDK_VERSION',
  'CLAUDE_CODE_AGENT_NAME',
  'CLAUDE_CODE_CHILD_SESSION',
  'CLAUDE_CODE_CONTAINER_ID',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_ENVIRONMENT_KIND',
  'CLAUDE_CODE_EXECPATH',
  'CLAUDE_CODE_MESSAGING_SOCKET',
  'CLAUDE_CODE_MESSAGING_TOKEN',
  'CLAUDE_CODE_PARENT_SESSION_ID',
  'CLAUDE_CODE_REMOTE',
  'CLAUDE_CODE_REMOTE_SESSION_ID',
  'CLAUDE_CODE_SESSION_ACCESS_TOKEN',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_CODE_SESSION_KIND',
  'CLAUDE_CODE_SSE_PORT',
  'CLAUDE_CODE_TEAM_NAME',
  'CLAUDE_EFFORT',
  'CLAUDE_ENV_FILE',
  'CLAUDE_PID',
  'CLAUDE_PLUGIN_DATA',
  'CLAUDE_PLUGIN_ROOT',
  'CLAUDE_PROJECT_DIR',
  'CLAUDE_SESSION_ID',
  'CLAUDE_SESSION_INGRESS_TOKEN_FILE',
  'CODEX_CI',
  'CODEX_INTERNAL_ORIGINATOR_OVERRIDE',
  'CODEX_MANAGED_BY_BUN',
  'CODEX_MANAGED_BY_NPM',
  'CODEX_PERMISSION_PROFILE',
  'CODEX_SANDBOX',
  'CODEX_SANDBOX_NETWORK_DISABLED',
  'CODEX_SESSION_ID',
  'CODEX_SHELL',
  'CODEX_THREAD_ID',
  'CODEX_TURN_ID',
  'CURSOR_AGENT',
  'CURSOR_TRACE_ID',
  'GEMINI_CLI',
  'OPENCODE',
  'OPENCODE_PID',
  'OPENCODE_SESSION_ID',
])

/** Credentials by file descriptor number: the number means nothing in a process that was not given the descriptor. */
const parentDescriptor = /^CLAUDE_CODE_\w+_FILE_DESCRIPTOR$/

/** Common names that a person may well have set: removed only where Holdpoint itself put the value there. */
const commonNames = ['NODE_OPTIONS', 'NODE_PATH', 'INIT_CWD', 'DATABASE_URL', 'PORT']

/**
 * The environment of an agent's process: the parent's, without Holdpoint's own secrets,
 * without a parent agent's session variables and without what npm and Holdpoint added; then the session's `.env`;
 * then the spawn environment. The parent's own ELICITATION_* of another session never come through.
 */
export function childEnvironment(
  parent: Readonly<Record<string, string | undefined>>,
  { dotenv, spawn, keep = {}, placed = {} }: ChildSettings,
): Environment {
  const child = environmentOf(parent)
  const npm = npmAdditions(child)
  const spawnNames: ReadonlySet<string> = new Set(spawnVariables)

  for (const [name, value] of Object.entries(child)) {
    const ours = commonNames.includes(name) && Object.hasOwn(placed, name) && placed[name] === value
    const foreign = name.startsWith('HOLDPOINT_') || parentSession.has(name) || parentDescriptor.test(name)
    if (ours || foreign || npm.has(name) || spawnNames.has(name)) delete child[name]
  }
  for (const [name, value] of Object.entries(keep)) child[name] = value
  for (const [name, value] of Object.entries(dotenv)) {
    // A blank value of one of the five counts as unset; any other blank value is passed on as it is.
    if (!(spawnNames.has(name) && isBlank(value))) child[name] = value
  }
  for (const [name, value] of Object.entries(spawn)) child[name] = value
  return child
}

/** The names that npm added, when this process was started by npm or npx; else none: they are then a person's own. */
function npmAdditions(environment: Readonly<Environment>): Set<string> {
  if (environment.npm_execpath === undefined && environment.npm_lifecycle_event === undefined)
    return new Set()
  const names = new Set(Object.keys(environment).filter((name) => name.startsWith('npm_')))
  names.add('INIT_CWD')
  // npm copies its `node-options` setting into NODE_OPTIONS; any other value was there before npm.
  const { NODE_OPTIONS: options, npm_config_node_options: setting } = environment
  if (options !== undefined && options === setting) names.add('NODE_OPTIONS')
  return names
}
