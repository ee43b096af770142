import { runtimeConfigCharactersMax, runtimeConfigServersMax } from '../../base/limits.ts'
import type { Environment } from '../environment.ts'
import { clientTtlMs, dotenvOverrides, type SpawnVariable, withDotenv } from '../spawn-environment.ts'
import type { RuntimeAdapter } from './adapter.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { type ConfigDocument, type ConfigFormat, openDocument } from './config-document.ts'
import { cursor } from './cursor.ts'
import { geminiCli } from './gemini-cli.ts'
import { opencode, opencode2 } from './opencode.ts'
import { isTable, own, type Path, type Table, tableAt, valueAt } from './parsed-document.ts'
import { vsCode } from './vs-code.ts'

/** By what a runtime's config files look like; `other` is told by the text. */
export type ConfigRuntime =
  | 'claude_code'
  | 'codex'
  | 'gemini_cli'
  | 'cursor'
  | 'vs_code'
  | 'opencode'
  | 'other'

export interface RewriteInput {
  runtime: ConfigRuntime
  format: ConfigFormat
  text: string
  /**
   * The spawn environment of one server: each has a capability address of its own. Called once for every server
   * that is written to, and for no other, because asking may mint a token.
   */
  environmentFor: (serverName: string) => Readonly<Environment>
  /** The session's `.env`, from `parseDotenv`. */
  dotenv: Readonly<Environment>
  /** The default expiration, in ms. */
  ttlMs: number
}

export type RewrittenServer =
  | {
      name: string
      kind: 'stdio'
      /** The address that this server will use, whoever decided it. */
      requestUrl: string | undefined
      /** Which of the variables the session's `.env` decided. */
      fromDotenv: SpawnVariable[]
      /** The limit of a tool call that now stands in the entry, in ms; null where none is known. */
      toolTimeoutMs: number | null
    }
  | { name: string; kind: 'remote' }
  | { name: string; kind: 'skipped'; reason: string }

export interface RewrittenConfig {
  /** Byte for byte the input whenever `changed` is false. */
  text: string
  changed: boolean
  servers: RewrittenServer[]
  warnings: string[]
}

/** By how much the runtime's patience outlasts the person's time. */
const toolTimeoutMarginMs = 5 * 60_000

/** The longest time-out that Claude Code takes, and any timer in JavaScript. */
const toolTimeoutMaxMs = 2 ** 31 - 1

/** A config that is none of ours: whatever has `mcpServers` takes `env`, but its time-outs are in units unknown. */
const unknownRuntime: RuntimeAdapter = { ...cursor, name: 'This runtime' }

export const adaptersByRuntime: Readonly<Record<ConfigRuntime, readonly RuntimeAdapter[]>> = {
  claude_code: [claudeCode],
  codex: [codex],
  gemini_cli: [geminiCli],
  cursor: [cursor],
  vs_code: [vsCode],
  opencode: [opencode2, opencode],
  other: [unknownRuntime, vsCode, opencode2, opencode, codex],
}

/**
 * Writes the gate into each stdio server's own env table of a runtime's MCP config, and raises the tool time-out
 * above the TTL. The five spawn variables beat the entry's own values and the session's `.env`
 * beats ours; everything else is merged around. Whatever cannot be read or safely edited comes back byte for byte,
 * with a warning: a degraded gate must not cost the session. Rewriting twice is rewriting once.
 */
export function rewriteRuntimeConfig(input: RewriteInput): RewrittenConfig {
  const { text, format } = input
  const untouched = (...warnings: string[]): RewrittenConfig => ({
    text,
    changed: false,
    servers: [],
    warnings,
  })
  const withoutGate = "it was left as it is, so its MCP servers do not know this session's gate."

  const adapters = adaptersByRuntime[input.runtime].filter((adapter) => adapter.format === format)
  if (adapters.length === 0) {
    const [expected] = adaptersByRuntime[input.runtime]
    return untouched(
      `${expected?.name} reads ${expected?.format}, and the MCP config is ${format}: ${withoutGate}`,
    )
  }
  if (text.trim() === '') return untouched()
  if (text.length > runtimeConfigCharactersMax) {
    return untouched(
      `The MCP config has more than ${runtimeConfigCharactersMax / 1024 / 1024} MiB: ${withoutGate}`,
    )
  }
  const opened = openDocument(format, text)
  if (!opened.ok) {
    return untouched(
      `The MCP config could not be read as ${format} (${opened.problem}): ${withoutGate} Correct the file and prepare the session again.`,
    )
  }

  const { document } = opened
  const adapter = adapters.find((candidate) => fits(candidate, document.value))
  if (adapter === undefined) {
    const misplaced = adapters.find((candidate) => valueAt(document.value, candidate.servers) !== undefined)
    if (misplaced === undefined && isTable(document.value)) return untouched()
    const what =
      misplaced === undefined ? 'The MCP config' : `"${misplaced.servers.join('.')}" of the MCP config`
    return untouched(`${what} is not a table: ${withoutGate}`)
  }

  const entries = Object.entries(tableAt(document.value, adapter.servers) ?? {})
  if (entries.length > runtimeConfigServersMax) {
    return untouched(`The MCP config has more than ${runtimeConfigServersMax} MCP servers: ${withoutGate}`)
  }
  const warnings: string[] = []
  const servers = entries.map(([name, entry]) =>
    rewriteServer(document, adapter, name, entry, input, warnings),
  )
  if (
    input.runtime === 'other' &&
    adapter.toolTimeout === null &&
    servers.some(({ kind }) => kind === 'stdio')
  ) {
    warnings.push(
      'Holdpoint does not know how this runtime limits a tool call. Make sure that it waits longer than ' +
        `${minutes(toolTimeoutMs(input.ttlMs))} minutes, else it gives up before a person has answered.`,
    )
  }

  const rendered = document.render()
  if (rendered === null) {
    const reason = 'the file could not be edited safely'
    return {
      text,
      changed: false,
      servers: servers.map((server) =>
        server.kind === 'stdio' ? { name: server.name, kind: 'skipped', reason } : server,
      ),
      warnings: [
        ...warnings,
        `The MCP config is written in a way that Holdpoint cannot edit safely: ${withoutGate} Give each stdio server an ` +
          `"${adapter.env}" table of its own and prepare the session again.`,
      ],
    }
  }
  return { text: rendered, changed: rendered !== text, servers, warnings }
}

export function fits(adapter: RuntimeAdapter, value: unknown): boolean {
  const servers = tableAt(value, adapter.servers)
  return servers !== undefined && (adapter.recognises?.(servers) ?? true)
}

function rewriteServer(
  document: ConfigDocument,
  adapter: RuntimeAdapter,
  name: string,
  entry: unknown,
  input: RewriteInput,
  warnings: string[],
): RewrittenServer {
  const server = `The MCP server ${JSON.stringify(name)}`
  const skip = (reason: string): RewrittenServer => {
    warnings.push(`${server} was left as it is and does not know this session's gate: ${reason}.`)
    return { name, kind: 'skipped', reason }
  }
  if (!isTable(entry)) return skip('its entry is not a table')
  if (own(entry, 'command') === undefined) {
    const warning = adapter.entryWarning?.(name, entry) ?? null
    if (warning !== null) warnings.push(warning)
    return isRemote(entry) ? { name, kind: 'remote' } : { name, kind: 'skipped', reason: 'it has no command' }
  }
  if (!isCommand(own(entry, 'command'), adapter)) return skip(`its command is not ${commandForm(adapter)}`)
  const env = own(entry, adapter.env)
  if (env !== undefined && !isTable(env)) return skip(`its "${adapter.env}" is not a table`)

  const path = [...adapter.servers, name]
  const variables = withDotenv(input.environmentFor(name), input.dotenv)
  if (adapter.forwarding !== undefined) dropForwarding(document, [...path, adapter.forwarding], variables)
  const wantedMs = toolTimeoutMs(Math.max(input.ttlMs, clientTtlMs(variables.ELICITATION_TTL_MS)))
  const timeout = raiseToolTimeout(document, adapter, path, wantedMs)
  if (timeout === 'unreadable') {
    warnings.push(
      `${server} has a tool time-out that Holdpoint cannot read; it was left as it is. Set it to at least ` +
        `${minutes(wantedMs)} minutes or remove it, else the runtime may give up before a person has answered.`,
    )
  }
  // Behind the time-out: in TOML this may open a new header, and the time-out belongs above it.
  document.assign([...path, adapter.env], new Map(Object.entries(variables)))
  return {
    name,
    kind: 'stdio',
    requestUrl: variables.ELICITATION_REQUEST_URL,
    fromDotenv: dotenvOverrides(input.dotenv),
    toolTimeoutMs: timeout === 'unreadable' ? null : timeout,
  }
}

/** A name with a literal value of ours and a forwarding rule would have two sources; versions differ in which wins. */
function dropForwarding(document: ConfigDocument, path: Path, variables: Readonly<Environment>): void {
  const rules = valueAt(document.value, path)
  if (!Array.isArray(rules)) return
  const doomed = new Set<number>()
  rules.forEach((rule: unknown, index) => {
    const name = typeof rule === 'string' ? rule : own(rule, 'name')
    if (typeof name === 'string' && Object.hasOwn(variables, name)) doomed.add(index)
  })
  document.removeItems(path, doomed)
}

/** The time-out that stands there afterwards, in ms; null where the runtime has none. */
function raiseToolTimeout(
  document: ConfigDocument,
  { toolTimeout }: RuntimeAdapter,
  server: Path,
  wantedMs: number,
): number | null | 'unreadable' {
  if (toolTimeout === null) return null
  const path = [...server, ...toolTimeout.path]
  const table = path.slice(0, -1)
  const present = valueAt(document.value, table)
  const current = valueAt(document.value, path)
  if (present !== undefined && !isTable(present)) return 'unreadable'
  if (current !== undefined && typeof current !== 'number' && typeof current !== 'bigint') return 'unreadable'
  const currentMs = current === undefined ? 0 : Number(current) * toolTimeout.unitMs
  if (currentMs >= wantedMs) return currentMs
  const wanted = Math.ceil(wantedMs / toolTimeout.unitMs)
  document.assign(table, new Map([[path.at(-1) ?? '', wanted]]))
  return wanted * toolTimeout.unitMs
}

/** How long a runtime has to wait for a tool that asks a person. */
export function toolTimeoutMs(ttlMs: number): number {
  return Math.min(ttlMs + toolTimeoutMarginMs, toolTimeoutMaxMs)
}

function minutes(ms: number): number {
  return Math.ceil(ms / 60_000)
}

function isRemote(entry: Table): boolean {
  return ['url', 'httpUrl', 'serverUrl'].some((key) => own(entry, key) !== undefined)
}

export function isCommand(command: unknown, { command: form }: RuntimeAdapter): boolean {
  if (form === 'string') return typeof command === 'string'
  return Array.isArray(command) && command.length > 0 && command.every((part) => typeof part === 'string')
}

function commandForm({ command }: RuntimeAdapter): string {
  return command === 'string' ? 'a string' : 'a list of strings'
}
