import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isRecord, own } from '../base/json.ts'
import { shellQuoted, takeOption } from './command-line.ts'
import { parseJson, readJson, record } from './json-file.ts'
import type { LaunchSettings } from './launch-plan.ts'

/** What a run adds to the settings of Claude Code. */
export interface SettingsPlan {
  /** The options without the `--settings` that the text stands for. */
  rest: string[]
  /** For a file of its own; null where the settings are to stay as they are. */
  text: string | null
  notices: string[]
}

const timeoutSecondsMax = Math.floor((2 ** 31 - 1) / 1_000)

/** Where hooks are not run, whatever the settings say; the variables are what the options set (seen with 2.1.197). */
const hooklessOptions = ['--bare', '--safe-mode']
const hooklessVariables = ['CLAUDE_CODE_SIMPLE', 'CLAUDE_CODE_SAFE_MODE']

const unheard =
  'What an MCP server asks its client is then answered by Claude Code itself at once, as if somebody had dismissed it, and nobody is asked. Put the bridge before the servers (--bridge)'

/**
 * Puts Holdpoint's Elicitation hook into the settings, behind what the command's own `--settings` has in it: Claude Code
 * takes one such option, the last. It is not put there twice: whoever has it in their own settings is asked once.
 */
export async function planSettings(
  { cwd, environment, holdpoint }: Pick<LaunchSettings, 'cwd' | 'environment' | 'holdpoint'>,
  options: readonly string[],
  { patienceMs, allow }: { patienceMs: number; allow: readonly string[] },
): Promise<SettingsPlan> {
  const taken = takeOption(options, '--settings')
  const given = taken.values.at(-1)
  const read = given === undefined ? { settings: {}, isFile: false } : await readGiven(given, cwd)
  const theirs = read && withHook(read.settings, null, allow)
  if (read === null || theirs === null)
    return {
      rest: [...options],
      text: null,
      notices: [
        `The --settings of the command could not be read, so Holdpoint's hook was not added to them. ${unheard}, or correct them.`,
      ],
    }

  const loaded = await readLoaded(options, cwd, environment)
  const all = [...loaded, read.settings]
  const notices: string[] = []
  const hookless = [
    ...hooklessOptions.filter((each) => options.includes(each)),
    ...hooklessVariables.filter((each) => isOn(environment[each])),
    ...(all.findLast((each) => own(each, 'disableAllHooks') !== undefined)?.disableAllHooks === true
      ? ['disableAllHooks']
      : []),
  ]
  if (hookless.length > 0)
    notices.push(`Claude Code runs no hooks with ${hookless.join(', ')}. ${unheard}, or leave that out.`)

  const hooks = all.flatMap(elicitationHooks)
  const isThere = hooks.some(({ matcher, hook }) => isForAll(matcher) && isOurs(hook))
  if (hooks.some(({ hook }) => !isOurs(hook)))
    notices.push(
      'Your settings of Claude Code have an Elicitation hook of their own. It is run beside the one of Holdpoint, and may answer before a person does.',
    )
  if (isThere && allow.length === 0) return { rest: [...options], text: null, notices }
  if (read.isFile && hasRelativeRules(read.settings))
    notices.push(
      `The permission rules of ${given} that begin with one slash are read from another folder in this run, where a copy of that file is used. Begin them with // and the whole path.`,
    )
  const command = [...holdpoint, 'hook', 'claude-code'].map(shellQuoted).join(' ')
  const timeout = Math.min(Math.ceil(patienceMs / 1_000), timeoutSecondsMax)
  const settings = withHook(read.settings, isThere ? null : { type: 'command', command, timeout }, allow)
  return { rest: taken.rest, text: JSON.stringify(settings, null, 2), notices }
}

/** A file, or JSON itself, as `--settings` takes both; null when it is neither. */
async function readGiven(
  value: string,
  cwd: string,
): Promise<{ settings: Record<string, unknown>; isFile: boolean } | null> {
  const isFile = !value.trimStart().startsWith('{')
  const text = isFile ? await readFile(resolve(cwd, value), 'utf8').catch(() => null) : value
  const settings = text === null ? undefined : parseJson(text)
  return isRecord(settings) ? { settings, isFile } : null
}

/** What Claude Code loads by itself, in the order in which the later ones win. */
function readLoaded(
  options: readonly string[],
  cwd: string,
  environment: LaunchSettings['environment'],
): Promise<Record<string, unknown>[]> {
  const sources = takeOption(options, '--setting-sources').values.at(-1)?.split(',')
  const files = Object.entries({
    user: join(settingsFolder(environment), 'settings.json'),
    project: join(cwd, '.claude', 'settings.json'),
    local: join(cwd, '.claude', 'settings.local.json'),
  })
  return Promise.all(
    files
      .filter(([source]) => sources === undefined || sources.some((each) => each.trim() === source))
      .map(([, file]) => readJson(file)),
  )
}

export function settingsFolder(environment: LaunchSettings['environment']): string {
  return environment.CLAUDE_CONFIG_DIR || join(environment.HOME || '', '.claude')
}

/** Null where what is there has another shape: Claude Code would refuse all of it. */
function withHook(
  settings: Record<string, unknown>,
  hook: object | null,
  allow: readonly string[],
): Record<string, unknown> | null {
  const hooks = own(settings, 'hooks') ?? {}
  const permissions = own(settings, 'permissions') ?? {}
  if (!isRecord(hooks) || !isRecord(permissions)) return null
  const elicitation = own(hooks, 'Elicitation') ?? []
  const allowed = own(permissions, 'allow') ?? []
  if (!Array.isArray(elicitation) || !Array.isArray(allowed)) return null
  return {
    ...settings,
    ...(hook && { hooks: { ...hooks, Elicitation: [...elicitation, { matcher: '', hooks: [hook] }] } }),
    ...(allow.length > 0 && { permissions: { ...permissions, allow: [...allowed, ...allow] } }),
  }
}

function elicitationHooks(settings: Record<string, unknown>): { matcher: unknown; hook: unknown }[] {
  const groups = own(record(own(settings, 'hooks')), 'Elicitation')
  return (Array.isArray(groups) ? groups : []).filter(isRecord).flatMap((group) => {
    const hooks = own(group, 'hooks')
    return (Array.isArray(hooks) ? hooks : []).map((hook) => ({ matcher: own(group, 'matcher'), hook }))
  })
}

function isForAll(matcher: unknown): boolean {
  return matcher === undefined || matcher === '' || matcher === '*'
}

/** The command of this program, or the address of its server. */
function isOurs(hook: unknown): boolean {
  const [command, url] = [own(record(hook), 'command'), own(record(hook), 'url')]
  return (
    (typeof command === 'string' && /holdpoint\S*\s+'?hook'?\s+'?claude-code\b/.test(command)) ||
    (typeof url === 'string' && url.includes('/api/v1/hooks/claude-code'))
  )
}

/** Claude Code reads `Read(/src/**)` from the folder of the file that it stands in. */
function hasRelativeRules(settings: Record<string, unknown>): boolean {
  return Object.values(record(own(settings, 'permissions'))).some(
    (rules) => Array.isArray(rules) && rules.some((rule) => /^\w+\(\/(?!\/)/.test(String(rule))),
  )
}

function isOn(value: string | undefined): boolean {
  return /^(1|true|yes|on)$/i.test(value?.trim() ?? '')
}
