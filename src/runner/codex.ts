import { lstat, readFile, realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parse, stringify, type TomlTable } from 'smol-toml'
import { own } from '../base/json.ts'
import { codexTrustWarning, isCodexProjectTrusted } from '../gate/runtime-config/codex-trust.ts'
import { spawnVariables } from '../gate/spawn-environment.ts'
import { codexHome, shareHome } from './codex-home.ts'
import { ownArguments, takeOption } from './command-line.ts'
import { record } from './json-file.ts'
import type { Equipped, LaunchPlan, LaunchSettings } from './launch-plan.ts'

type Servers = Record<string, unknown>

const changedSettings =
  'Codex changed its settings in this run (a model or a trusted folder, say). They were of this run only; make the change in a Codex of its own to keep it.'

const instructionFiles = ['AGENTS.override.md', 'AGENTS.md'] as const

/**
 * Codex takes its config from `$CODEX_HOME/config.toml` and, for a trusted project, from `.codex/config.toml` on top, table by
 * table. So a run gets a home of its own: a rewritten config with the servers of both, the system prompt in AGENTS.md, and
 * links to everything else, so that login, sessions and history are the user's (seen with 0.171, which writes through links).
 * Overrides by `-c` would show addresses to everybody who can list processes.
 */
export async function planCodex(settings: LaunchSettings): Promise<LaunchPlan> {
  const { environment, mcpConfigFile } = settings
  const parts = ownArguments(settings.command)
  const home = codexHome(environment)
  const notices: string[] = []
  // A config that is named stands in for the home's, trust and all.
  const homeText = await readText(
    mcpConfigFile === null ? join(home, 'config.toml') : resolve(settings.cwd, mcpConfigFile),
  )
  if (homeText === null && mcpConfigFile !== null)
    notices.push(`${mcpConfigFile} could not be read: Codex runs without it.`)

  const named = [...takeOption(parts.options, '--cd').values, ...takeOption(parts.options, '-C').values].at(
    -1,
  )
  const cwd = await realpath(resolve(settings.cwd, named ?? '.')).catch(() => settings.cwd)
  const project = await readProject(cwd, homeText)
  notices.push(...project.notices)
  const text = withServers(homeText ?? '', project.servers)
  if (text.notice !== null) notices.push(text.notice)
  if (/^\s*cli_auth_credentials_store\s*=\s*["'](keyring|auto)["']/m.test(homeText ?? ''))
    notices.push(
      'Codex keeps its login in the keyring under the name of its home, and this run has a home of its own: if Codex asks for a login, set cli_auth_credentials_store = "file" and log in once.',
    )

  return {
    mcpConfig: text.toml.trim() === '' ? null : { format: 'toml', text: text.toml },
    notices,
    async equip({ mcpConfig, systemPrompt }, folder): Promise<Equipped> {
      const config = mcpConfig ?? ''
      if (config === (homeText ?? '') && systemPrompt === null && mcpConfigFile === null)
        return { command: [...settings.command], environment: {}, notices: [] }
      const written = new Set(['config.toml'])
      await folder.write('config.toml', config)
      if (systemPrompt !== null) {
        const [name, theirs] = await findInstructions(home)
        await folder.write(name, theirs === '' ? `${systemPrompt}\n` : `${systemPrompt}\n\n${theirs}`)
        written.add(name)
      }
      const bringHome = await shareHome(home, folder.path, written)
      const raised = raisedTimeouts(config, project.servers)
      return {
        command: [...parts.program, ...parts.options, ...raised, ...parts.operands],
        environment: { CODEX_HOME: folder.path },
        notices: [],
        async finish() {
          await bringHome()
          return (await readText(join(folder.path, 'config.toml'))) === config ? [] : [changedSettings]
        },
      }
    },
  }
}

/** The servers of the project's own configs, where Codex will read them. */
async function readProject(
  cwd: string,
  homeConfigText: string | null,
): Promise<{ servers: Servers; notices: string[] }> {
  const root = await findRoot(cwd)
  const servers: Servers = Object.create(null)
  const notices: string[] = []
  for (const folder of foldersBetween(root ?? cwd, cwd)) {
    const text = await readText(join(folder, '.codex', 'config.toml'))
    if (text === null) continue
    const project = { homeConfigText, projectDirectory: folder, roots: root === null ? [] : [root] }
    if (!isCodexProjectTrusted(project)) notices.push(codexTrustWarning(project)!)
    else
      for (const [name, entry] of Object.entries(serversIn(text))) {
        servers[name] = entry
        const env = record(own(record(entry), 'env'))
        const fixed = spawnVariables.filter((each) => Object.hasOwn(env, each))
        if (fixed.length > 0) notices.push(fixedNotice(join(folder, '.codex', 'config.toml'), name, fixed))
      }
  }
  return { servers, notices }
}

/** The home's config with the project's servers added to it, as far as it does not define them itself. */
function withServers(homeText: string, servers: Servers): { toml: string; notice: string | null } {
  const known = serversIn(homeText)
  const added = Object.entries(servers).filter(([name]) => !Object.hasOwn(known, name))
  if (added.length === 0) return { toml: homeText, notice: null }
  const tables = stringify({ mcp_servers: Object.fromEntries(added) as TomlTable })
  const toml = `${homeText.trimEnd()}${homeText.trim() === '' ? '' : '\n\n'}${tables}\n`
  try {
    parse(toml)
    return { toml, notice: null }
  } catch {
    // Such as `mcp_servers = { … }` in one line, which takes no more tables.
    return {
      toml: homeText,
      notice:
        "The servers of the project's .codex/config.toml could not be added to this run's config: they will NOT reach the gate. Write the mcp_servers of the home's config.toml as [mcp_servers.NAME] tables.",
    }
  }
}

/**
 * The project's own limits of a tool call win over those of the home, however low. Only options win over the project's;
 * a number in them is no secret.
 */
function raisedTimeouts(config: string, project: Servers): string[] {
  const wanted = serversIn(config)
  return Object.keys(project).flatMap((name) => {
    const given = own(record(own(project, name)), 'tool_timeout_sec')
    const raised = own(record(own(wanted, name)), 'tool_timeout_sec')
    if (
      given === undefined ||
      raised === undefined ||
      Number(given) >= Number(raised) ||
      !/^[\w-]+$/.test(name)
    )
      return []
    return ['-c', `mcp_servers.${name}.tool_timeout_sec=${raised}`]
  })
}

/** The user's own instructions: the first of the files that says anything, which is the one that Codex reads. */
async function findInstructions(home: string): Promise<[string, string]> {
  for (const name of instructionFiles) {
    const text = await readText(join(home, name))
    if (text?.trim()) return [name, text]
  }
  return ['AGENTS.md', '']
}

async function findRoot(cwd: string): Promise<string | null> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (await lstat(join(folder, '.git')).catch(() => null)) return folder
    if (dirname(folder) === folder) return null
  }
}

function foldersBetween(root: string, cwd: string): string[] {
  return cwd === root || dirname(cwd) === cwd ? [cwd] : [...foldersBetween(root, dirname(cwd)), cwd]
}

function serversIn(toml: string): Servers {
  try {
    return record(own(parse(toml), 'mcp_servers'))
  } catch {
    return {}
  }
}

/** Codex takes the project's own values for the home's. */
function fixedNotice(file: string, server: string, names: readonly string[]): string {
  return `${file} itself sets ${names.join(', ')} for the MCP server ${JSON.stringify(server)}, and Codex takes that: it will NOT reach the gate of this session. Take them out ("holdpoint prepare --undo", if that put them there).`
}

async function readText(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null)
}
