import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isRecord, own } from '../base/json.ts'
import { toolTimeoutMs } from '../gate/runtime-config/rewrite.ts'
import { isPrintMode, planPermissions } from './claude-code-permissions.ts'
import { planSettings, settingsFolder } from './claude-code-settings.ts'
import { ownArguments, takeOption } from './command-line.ts'
import { parseJson, readJson, record, texts } from './json-file.ts'
import type { LaunchPlan, LaunchSettings } from './launch-plan.ts'

type Servers = Map<string, unknown>

/** Ends a call of a tool without progress after 30 minutes; per server it is set in its entry. */
const idleTimeoutName = 'CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT'

/**
 * Claude Code takes a config by `--mcp-config`, whose servers win over those of the same name from anywhere else (seen with
 * 2.1.197). So every stdio server that it would start by itself is put into the private copy: those of the user, of this
 * project for the user, and of the project's `.mcp.json`. Of the latter in an interactive session only those that
 * have been approved: whoever has not been asked about a server yet shall be, and `--mcp-config` skips the question.
 */
export async function planClaudeCode(settings: LaunchSettings): Promise<LaunchPlan> {
  const { cwd, environment, mcpConfigFile, approveTools, holdpoint } = settings
  const notices: string[] = []
  const parts = ownArguments(settings.command)
  const servers: Servers = new Map()

  if (!parts.options.includes('--strict-mcp-config')) {
    const found = await findServers({ cwd, environment, isPrint: isPrintMode(parts.options) })
    for (const [name, entry] of found.servers) servers.set(name, entry)
    notices.push(...found.notices)
  }
  if (mcpConfigFile !== null) {
    const given = await readGiven(mcpConfigFile, cwd)
    if (given === null)
      notices.push(`${mcpConfigFile} could not be read as an MCP config: Claude Code runs without it.`)
    else for (const [name, entry] of given) servers.set(name, entry)
  }
  let { options } = parts
  const taken = takeOption(options, '--mcp-config', { many: true })
  const configs = await Promise.all(taken.values.map((value) => readGiven(value, cwd)))
  // What cannot be read stays where it is: Claude Code says what is wrong with it.
  if (configs.every((config) => config !== null)) {
    options = taken.rest
    for (const config of configs) for (const [name, entry] of config) servers.set(name, entry)
  }

  return {
    mcpConfig:
      servers.size === 0
        ? null
        : { format: 'json', text: JSON.stringify({ mcpServers: Object.fromEntries(servers) }, null, 2) },
    notices,
    async equip({ mcpConfig, systemPrompt, ttlMs, agentVariables }, folder) {
      const ours: string[] = []
      let rest = options
      const patienceMs = toolTimeoutMs(ttlMs)
      const asked = approveTools ? planPermissions(rest, new Set(servers.keys())) : null
      let config = mcpConfig
      if (asked) {
        rest = asked.rest
        ours.push(...asked.ours)
        config = withServer(config, asked.serverName, {
          command: holdpoint[0],
          args: [...holdpoint.slice(1), 'mcp'],
          env: agentVariables ?? {},
          timeout: patienceMs,
          // The first turn may need a permission already, and Claude Code does not wait for a server that is slow to start.
          alwaysLoad: true,
        })
      }
      if (config !== null) ours.push(`--mcp-config=${await folder.write('mcp.json', config)}`)
      const hooked = await planSettings(settings, rest, { patienceMs, allow: asked?.allow ?? [] })
      rest = hooked.rest
      if (hooked.text !== null) ours.push(`--settings=${await folder.write('settings.json', hooked.text)}`)
      if (systemPrompt !== null) {
        const prompted = await withPrompt(rest, systemPrompt, cwd)
        rest = prompted.rest
        ours.push('--append-system-prompt', prompted.text)
      }
      const configured = Number(environment[idleTimeoutName])
      return {
        command: [...parts.program, ...rest, ...ours, ...parts.operands],
        // For servers that come from elsewhere, such as a plugin.
        environment: {
          [idleTimeoutName]: String(Math.max(patienceMs, Number.isNaN(configured) ? 0 : configured)),
        },
        notices: [...(asked?.notices ?? []), ...hooked.notices],
      }
    },
  }
}

/** The prompt behind the one that the command has: of two such options the last one counts, and the two kinds exclude each other. */
async function withPrompt(
  options: readonly string[],
  prompt: string,
  cwd: string,
): Promise<{ rest: string[]; text: string }> {
  const given = takeOption(options, '--append-system-prompt')
  const files = takeOption(given.rest, '--append-system-prompt-file')
  const read = await Promise.all(
    files.values.map((file) => readFile(resolve(cwd, file), 'utf8').catch(() => null)),
  )
  const theirs = [...given.values, ...read.filter((text) => text !== null)]
  return {
    rest: read.includes(null) ? given.rest : files.rest,
    text: [...theirs, prompt].join('\n\n'),
  }
}

/** Behind the rewriting: it has a key of its own, and needs no address. */
function withServer(config: string | null, name: string, entry: object): string {
  const whole = record(parseJson(config ?? '{}'))
  const servers = record(own(whole, 'mcpServers'))
  return JSON.stringify({ ...whole, mcpServers: { ...servers, [name]: entry } }, null, 2)
}

/** The stdio and remote servers that Claude Code would start by itself, the nearest definition of each name. */
async function findServers({
  cwd,
  environment,
  isPrint,
}: {
  cwd: string
  environment: LaunchSettings['environment']
  isPrint: boolean
}): Promise<{ servers: Servers; notices: string[] }> {
  const home = environment.CLAUDE_CONFIG_DIR || environment.HOME || ''
  const user = await readJson(join(home, '.claude.json'))
  const projects = ancestors(cwd).map((folder) => record(own(record(own(user, 'projects')), folder)))
  const local = projects.find((project) => Object.keys(project).length > 0) ?? {}
  const project = await readProjectServers(cwd)

  // A project may reject its servers for everybody, but not approve them.
  const theUsers = [
    local,
    await readJson(join(settingsFolder(environment), 'settings.json')),
    await readJson(join(cwd, '.claude', 'settings.local.json')),
  ]
  const everybodys = [...theUsers, await readJson(join(cwd, '.claude', 'settings.json'))]
  const approved = new Set(theUsers.flatMap((choice) => texts(own(choice, 'enabledMcpjsonServers'))))
  const rejected = new Set(everybodys.flatMap((choice) => texts(own(choice, 'disabledMcpjsonServers'))))
  const approvesAll = theUsers.some((choice) => own(choice, 'enableAllProjectMcpServers') === true)
  const off = new Set(texts(own(local, 'disabledMcpServers')))
  const mayStart = (name: string) => !rejected.has(name) && (isPrint || approvesAll || approved.has(name))

  const servers: Servers = new Map()
  const waiting: string[] = []
  for (const [name, entry] of Object.entries(record(own(user, 'mcpServers')))) servers.set(name, entry)
  for (const [name, entry] of project) {
    if (mayStart(name)) servers.set(name, entry)
    else {
      // Claude Code takes the project's before the user's of this name, should it be approved.
      servers.delete(name)
      if (!rejected.has(name)) waiting.push(name)
    }
  }
  for (const [name, entry] of Object.entries(record(own(local, 'mcpServers')))) servers.set(name, entry)
  for (const name of off) servers.delete(name)
  return { servers, notices: waiting.length > 0 ? [noticeOf(waiting, environment)] : [] }
}

function noticeOf(waiting: string[], environment: LaunchSettings['environment']): string {
  const names = waiting.map((name) => JSON.stringify(name)).join(', ')
  return environment.CLAUDE_CODE_MCP_ALLOWLIST_ENV
    ? `The servers ${names} of .mcp.json are not approved in Claude Code yet, and CLAUDE_CODE_MCP_ALLOWLIST_ENV keeps the environment from them: they will NOT reach the gate. Approve them and run again, or add --mcp-config .mcp.json.`
    : `The servers ${names} of .mcp.json are not approved in Claude Code yet: this time they get the gate through the environment only. After the approval each has an address of its own.`
}

/** The project's servers: `.mcp.json` of the folder and of those above it, the nearest first. */
async function readProjectServers(cwd: string): Promise<Servers> {
  const servers: Servers = new Map()
  for (const folder of ancestors(cwd).toReversed())
    for (const [name, entry] of Object.entries(
      record(own(await readJson(join(folder, '.mcp.json')), 'mcpServers')),
    ))
      servers.set(name, entry)
  return servers
}

/** The servers of a file, or of JSON itself, as `--mcp-config` takes both; null when it is neither. */
async function readGiven(value: string, cwd: string): Promise<Servers | null> {
  const text = value.trimStart().startsWith('{')
    ? value
    : await readFile(resolve(cwd, value), 'utf8').catch(() => null)
  if (text === null) return null
  const servers = own(record(parseJson(text)), 'mcpServers')
  return isRecord(servers) ? new Map(Object.entries(servers)) : null
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...ancestors(parent)]
}
