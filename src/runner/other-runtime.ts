import { readFile } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import type { LaunchPlan, LaunchSettings } from './launch-plan.ts'

/** Words in a command that stand for what Holdpoint has prepared. */
export const configWord = '{mcp-config}'
const promptWord = '{system-prompt}'

/** Runtimes that end a tool call before a person may have answered, unless their own config says otherwise. */
const impatient = new Map([
  ['gemini', 'Gemini CLI ends a tool call after 10 minutes'],
  ['opencode', 'opencode ends a tool call after 60 seconds'],
])

/**
 * A runtime that Holdpoint does not know gives its environment to its MCP servers, as most do; that is all that can be
 * done without its help. With `{mcp-config}` and `{system-prompt}` in its command it can be handed the rest.
 */
export async function planOther({ command, cwd, mcpConfigFile }: LaunchSettings): Promise<LaunchPlan> {
  const notices: string[] = []
  const takesConfig = command.some((word) => word.includes(configWord))
  const takesPrompt = command.some((word) => word.includes(promptWord))
  const text =
    mcpConfigFile === null ? null : await readFile(resolve(cwd, mcpConfigFile), 'utf8').catch(() => null)
  if (mcpConfigFile !== null && text === null)
    notices.push(`${mcpConfigFile} could not be read: the agent runs without it.`)
  if (mcpConfigFile !== null && !takesConfig)
    notices.push(
      `It is not known how this runtime takes an MCP config. Put ${configWord} into its command where the path of the copy belongs; until then its servers get the gate through the environment only.`,
    )
  const limit = impatient.get(basename(command[0] ?? ''))
  if (limit !== undefined)
    notices.push(
      `${limit}, and a person may take longer. "holdpoint prepare --session ID" writes the gate and a longer limit into the project's config.`,
    )

  return {
    mcpConfig: text === null ? null : { format: extname(mcpConfigFile!) === '.toml' ? 'toml' : 'json', text },
    notices,
    async equip({ mcpConfig, systemPrompt }, folder) {
      const path =
        takesConfig && mcpConfig !== null
          ? await folder.write(`mcp${extname(mcpConfigFile!) || '.json'}`, mcpConfig)
          : ''
      return {
        command: command.map((word) =>
          word.replaceAll(configWord, () => path).replaceAll(promptWord, () => systemPrompt ?? ''),
        ),
        environment: {},
        notices:
          systemPrompt === null || takesPrompt
            ? []
            : [
                `This runtime is not told about the gate. Put ${promptWord} into its command, or tell the agent yourself:\n${systemPrompt}`,
              ],
      }
    },
  }
}
