import type { Environment } from '../gate/environment.ts'
import type { PrivateFolder } from './private-folder.ts'

/** What the person who runs an agent has said about it. */
export interface LaunchSettings {
  command: readonly string[]
  cwd: string
  /** The environment that the runtime will read its own settings by. */
  environment: Readonly<Environment>
  /** Given to `holdpoint run` itself. */
  mcpConfigFile: string | null
  /** The permission prompts of the runtime go to a person. */
  approveTools: boolean
  /** Holdpoint's own program and its arguments, as a runtime is to start it. */
  holdpoint: readonly [string, ...string[]]
}

/** What `prepareLaunch` answered, as far as a runtime has to be told of it. */
export interface Prepared {
  mcpConfig: string | null
  systemPrompt: string | null
  /** How long a request may wait for a person, by the spawn environment. */
  ttlMs: number
  /** The server's address and a key that is bound to the session; null when none was asked for. */
  agentVariables: Record<string, string> | null
}

/** How one runtime takes its MCP config and its system prompt. */
export interface LaunchPlan {
  /** The config that is to be rewritten; null when there is none. */
  mcpConfig: { format: 'json' | 'toml'; text: string } | null
  /** For the person who starts it. */
  notices: string[]
  /** Puts what was prepared in its place, and says how the agent is to be started. */
  equip(prepared: Prepared, folder: PrivateFolder): Promise<Equipped>
}

export interface Equipped {
  command: string[]
  /** Beside the spawn environment. */
  environment: Record<string, string>
  notices: string[]
  /** Once the agent has ended: what it left in the private folder and is the user's. @returns notices */
  finish?: () => Promise<string[]>
}
