import { basename } from 'node:path'
import { runtimeConfigCharactersMax } from '../../base/limits.ts'
import type { RuntimeAdapter } from './adapter.ts'
import { type ConfigFormat, openDocument } from './config-document.ts'
import { isTable, own, type Settable, tableAt } from './parsed-document.ts'
import { adaptersByRuntime, type ConfigRuntime, fits, isCommand } from './rewrite.ts'

export interface BridgeInput {
  runtime: ConfigRuntime
  format: ConfigFormat
  text: string
  /** The program and its arguments that `--server=NAME -- COMMAND …` is put behind. */
  bridge: readonly [string, ...string[]]
}

export interface BridgedConfig {
  /** Byte for byte the input whenever `changed` is false. */
  text: string
  changed: boolean
  /** The servers that are behind the bridge now. */
  bridged: string[]
  warnings: string[]
}

/**
 * Puts the bridge before each stdio server of a runtime's MCP config, once: what is behind it already, and Holdpoint's own
 * server, stay as they are. So does everything else in an entry, and whatever cannot be read or safely edited.
 */
export function bridgeRuntimeConfig({ runtime, format, text, bridge }: BridgeInput): BridgedConfig {
  const untouched = (...warnings: string[]): BridgedConfig => ({
    text,
    changed: false,
    bridged: [],
    warnings,
  })
  const withoutBridge = 'its MCP servers are started without the bridge.'
  if (text.trim() === '') return untouched()
  if (text.length > runtimeConfigCharactersMax)
    return untouched(
      `The MCP config has more than ${runtimeConfigCharactersMax / 1024 / 1024} MiB: ${withoutBridge}`,
    )
  const opened = openDocument(format, text)
  if (!opened.ok)
    return untouched(`The MCP config could not be read as ${format} (${opened.problem}): ${withoutBridge}`)
  const { document } = opened
  const adapter = adaptersByRuntime[runtime].find(
    (each) => each.format === format && fits(each, document.value),
  )
  if (adapter === undefined) return untouched()

  const warnings: string[] = []
  const bridged: string[] = []
  for (const [name, entry] of Object.entries(tableAt(document.value, adapter.servers) ?? {})) {
    if (!isTable(entry) || !isCommand(own(entry, 'command'), adapter)) continue
    const words = wordsOf(entry, adapter)
    if (words === null) {
      warnings.push(
        `The MCP server ${JSON.stringify(name)} is started without the bridge: its arguments are not a list of strings.`,
      )
      continue
    }
    if (isOurs(words)) continue
    const whole: readonly [string, ...string[]] = [...bridge, `--server=${name}`, '--', ...words]
    document.assign([...adapter.servers, name], settingsOf(whole, adapter))
    bridged.push(name)
  }
  const rendered = document.render()
  if (rendered === null)
    return untouched(`The MCP config is written in a way that Holdpoint cannot edit safely: ${withoutBridge}`)
  return { text: rendered, changed: rendered !== text, bridged, warnings }
}

/** The program and its arguments; null when they are not all text. */
function wordsOf(entry: unknown, { command: form }: RuntimeAdapter): string[] | null {
  const [command, args = []] = [own(entry, 'command'), own(entry, 'args')]
  const words = form === 'array' ? command : Array.isArray(args) ? [command, ...args] : null
  return Array.isArray(words) && words.every((word) => typeof word === 'string') ? words : null
}

function settingsOf(
  [program, ...args]: readonly [string, ...string[]],
  { command: form }: RuntimeAdapter,
): Map<string, Settable> {
  return new Map<string, Settable>(
    form === 'array'
      ? [['command', [program, ...args]]]
      : [
          ['command', program],
          ['args', args],
        ],
  )
}

/** A command of Holdpoint itself: the bridge, by which a second pass is told, or its own MCP server. */
function isOurs(words: readonly string[]): boolean {
  return words.some(
    (word, i) =>
      /^holdpoint(\.(ts|js|cmd|exe))?$/.test(basename(word)) && /^(bridge|mcp)$/.test(words[i + 1] ?? ''),
  )
}
