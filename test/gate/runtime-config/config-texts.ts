import fc, { type GeneratorValue } from 'fast-check'
import { spawnVariables } from '../../../src/gate/spawn-environment.ts'

/**
 * Random MCP configs, written in random ways: the texts that people's editors, generators and habits give.
 * Every comment is unique, so that a test can look for each of them afterwards.
 */
export interface ConfigText {
  text: string
  comments: string[]
}

type Draw = GeneratorValue
type Entries = [string, unknown][]
/** An object as a list, because `__proto__` and the order of names have to survive until they are written. */
class Table {
  readonly entries: Entries

  constructor(entries: Entries) {
    this.entries = entries
  }
}

const table = (entries: Entries) => new Table(entries)
const isTable = (value: unknown): value is Table => value instanceof Table

const plainName = fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/)
const oddName = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'a.b',
    'say "hi"',
    "it's",
    'tab\there',
    'ä €',
    '',
    '#',
    '[x]',
    'env',
  ),
  fc.string({ maxLength: 6 }),
)
const name = fc.oneof({ weight: 3, arbitrary: plainName }, { weight: 1, arbitrary: oddName })
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom(
    '// no comment',
    '# no comment',
    '}',
    ']',
    '"',
    "'",
    '\\',
    '{"env": {}}',
    '[mcp_servers.no]',
    '"""',
    "'''",
  ),
)

export const crlf = ({ text, comments }: ConfigText): ConfigText => ({
  text: text.replaceAll('\n', '\r\n'),
  comments,
})

/** One server in each of the ways that the rewriting has to tell apart. */
function serverEntry(draw: Draw, keys: { env: string; timeout: string; forwarding?: string }): Table {
  const entries: Entries = []
  const kind = draw(fc.constantFrom, 'stdio', 'stdio', 'stdio', 'remote', 'neither')
  if (kind === 'stdio') entries.push(['command', draw(() => text)])
  if (kind === 'remote') entries.push(['url', 'https://x.example'], ['type', 'http'])
  if (draw(fc.boolean)) entries.push(['args', draw(() => fc.array(text, { maxLength: 3 }))])
  const envKind = draw(fc.constantFrom, 'none', 'empty', 'some', 'some', 'odd')
  if (envKind === 'empty') entries.push([keys.env, table([])])
  if (envKind === 'odd') entries.push([keys.env, draw(fc.constantFrom, 'A=1', 7, ['A=1'], true)])
  if (envKind === 'some') {
    const ours = draw(() => fc.subarray([...spawnVariables]))
    const others = draw(() => fc.uniqueArray(name, { maxLength: 3 })).filter(
      (one) => !ours.some((our) => our === one),
    )
    entries.push([keys.env, table([...ours, ...others].map((one) => [one, draw(() => text)]))])
  }
  if (draw(fc.boolean))
    entries.push([keys.timeout, draw(fc.constantFrom, 1, 60, 3_900, 3_900_000, 2_000_000_000)])
  if (keys.forwarding !== undefined && draw(fc.boolean)) {
    const rule = fc.oneof(fc.constantFrom(...spawnVariables, 'TOKEN', 'LANGUAGE'), plainName)
    const rules = draw(() => fc.array(rule, { maxLength: 5 }))
    entries.push([
      keys.forwarding,
      rules.map((one) =>
        draw(fc.boolean)
          ? one
          : table([['name', one], ...(draw(fc.boolean) ? [['source', 'local'] as [string, unknown]] : [])]),
      ),
    ])
  }
  return table(shuffled(draw, entries))
}

function shuffled<T>(draw: Draw, items: T[]): T[] {
  return draw(() => fc.shuffledSubarray(items, { minLength: items.length }))
}

function unrelated(draw: Draw): Entries {
  const names = draw(() => fc.uniqueArray(plainName, { maxLength: 3 })).map((one) => `other-${one}`)
  return names.map((one) => [
    one,
    draw(() => fc.oneof(text, fc.integer(), fc.boolean(), fc.array(fc.integer(), { maxLength: 3 }))),
  ])
}

export function jsonConfig(draw: Draw, keys: { servers: string; env: string; timeout: string }): ConfigText {
  const comments: string[] = []
  const names = draw(() => fc.uniqueArray(name, { maxLength: 4 }))
  const servers = table(names.map((one) => [one, serverEntry(draw, keys)]))
  const root = table(shuffled(draw, [[keys.servers, servers], ...unrelated(draw)]))
  const unit = draw(fc.constantFrom, '  ', '    ', '\t', ' ')
  const commented = draw(fc.boolean)
  const trailingCommas = draw(fc.boolean)
  const compact = draw(fc.boolean)

  return { text: void_('') + write(root, '') + void_(''), comments }

  function write(value: unknown, indent: string): string {
    if (Array.isArray(value))
      return `[${value.map((item) => write(item, indent)).join(compact ? ',' : ', ')}]`
    if (!isTable(value)) return JSON.stringify(value)
    if (value.entries.length === 0) return '{}'
    const lines = draw(fc.constantFrom, true, true, false)
    const inner = lines ? `\n${indent}${unit}` : draw(fc.constantFrom, '', ' ')
    const colon = compact ? ':' : ': '
    const members = value.entries.map(
      ([key, member]) =>
        `${inner}${void_(inner)}${JSON.stringify(key)}${colon}${void_(inner)}${write(member, indent + unit)}${void_(inner)}`,
    )
    const tail = trailingCommas && draw(fc.boolean) ? `,${void_(inner)}` : ''
    return `{${void_(inner)}${members.join(',')}${tail}${lines ? `\n${indent}` : inner}}`
  }

  /** Nothing, or a comment where JSON with comments may have one; a line comment brings its line break. */
  function void_(after: string): string {
    if (!commented || !draw(fc.constantFrom, true, false, false, false)) return ''
    const comment = `<<${comments.length}>>`
    comments.push(comment)
    return draw(fc.boolean) ? ` /* ${comment}, "}" */ ` : ` // ${comment} { "\n${after.replace('\n', '')}`
  }
}

export function tomlConfig(draw: Draw): ConfigText {
  const comments: string[] = []
  const keys = { env: 'env', timeout: 'tool_timeout_sec', forwarding: 'env_vars' }
  const names = draw(() => fc.uniqueArray(name, { maxLength: 5 }))
  const servers = names.map((one): [string, Table] => [one, serverEntry(draw, keys)])
  const indent = draw(fc.constantFrom, '', '', '  ', '\t')

  // A table may be opened once: by dotted keys at the root, or below one [mcp_servers], or by headers of its own.
  const atRoot = draw(fc.boolean)
  const rootLines = unrelated(draw).map(([key, value]) => assignment([key], value))
  const inServers: string[] = []
  const blocks: string[][] = []
  for (const [serverName, entry] of servers) {
    const shape = draw(fc.constantFrom, 'header', 'header', 'header', 'inline', 'dotted')
    if (shape === 'header') blocks.push(...headers(['mcp_servers', serverName], entry))
    else {
      const path = atRoot ? ['mcp_servers', serverName] : [serverName]
      const lines = shape === 'inline' ? [assignment(path, entry)] : dotted(path, entry)
      if (atRoot) rootLines.push(...lines)
      else inServers.push(...lines)
    }
  }
  if (!atRoot && inServers.length > 0) blocks.push([header(['mcp_servers']), ...inServers])
  blocks.push([header(['unrelated']), 'since = 1979-05-27 07:32:00Z', 'big = 9223372036854775807'])
  const all = [rootLines, ...shuffled(draw, blocks)].map((lines) =>
    lines.map((line) => indent + line).join('\n'),
  )
  const end = draw(fc.constantFrom, '\n', '', '\n\n')
  return {
    text: all.filter((lines) => lines !== '').join(draw(fc.constantFrom, '\n', '\n\n')) + end,
    comments,
  }

  function headers(path: string[], entry: Table): string[][] {
    const own: string[] = [header(path)]
    const subs: string[][] = []
    for (const [key, value] of entry.entries) {
      const shape = draw(fc.constantFrom, 'header', 'dotted', 'value')
      const rules = Array.isArray(value) && value.length > 0 && value.every(isTable) ? value : []
      if (shape === 'header' && isTable(value)) subs.push([header([...path, key]), ...below(value)])
      else if (shape === 'header' && rules.length > 0 && key === 'env_vars') {
        subs.push(
          rules.flatMap((rule) => [
            `[${header([...path, key], false)}]${mayGo(beside)}`,
            ...below(rule, (pair) => mayGo(pair)),
          ]),
        )
      } else if (shape === 'dotted' && isTable(value) && value.entries.length > 0)
        own.push(...dotted([key], value))
      else own.push(assignment([key], value))
    }
    return draw(fc.boolean) ? [[...own, ...subs.flat()]] : [own, ...subs]
  }

  function below(entry: Table, wrap = (write: () => string) => write()): string[] {
    return entry.entries.map(([key, value]) => wrap(() => assignment([key], value)))
  }

  function dotted(path: string[], entry: Table): string[] {
    return entry.entries.flatMap(([key, value]) =>
      isTable(value) && value.entries.length > 0 && draw(fc.boolean)
        ? value.entries.map(([inner, member]) => assignment([...path, key, inner], member))
        : [assignment([...path, key], value)],
    )
  }

  function header(path: string[], comment = true): string {
    const gap = draw(fc.constantFrom, '', '', ' ')
    return `[${gap}${path.map(key).join(draw(fc.constantFrom, '.', '.', ' . '))}${gap}]${comment ? beside() : ''}`
  }

  function assignment(path: string[], value: unknown): string {
    const equals = draw(fc.constantFrom, ' = ', '=', '  =\t')
    return `${above()}${path.map(key).join(draw(fc.constantFrom, '.', '.', ' .'))}${equals}${write(value, true)}${path.at(-1) === 'env_vars' ? mayGo(beside) : beside()}`
  }

  function write(value: unknown, lines: boolean): string {
    if (typeof value === 'string') return string(value, lines)
    if (isTable(value)) {
      const gap = draw(fc.constantFrom, '', ' ')
      const members = value.entries.map(([inner, member]) => `${key(inner)} = ${write(member, false)}`)
      return members.length === 0 ? '{}' : `{${gap}${members.join(draw(fc.constantFrom, ', ', ','))}${gap}}`
    }
    if (Array.isArray(value)) return array(value, lines)
    return String(value)
  }

  function array(items: unknown[], lines: boolean): string {
    if (!lines || items.length === 0 || draw(fc.boolean)) {
      return `[${items.map((item) => write(item, false)).join(draw(fc.constantFrom, ', ', ',', ' , '))}${items.length > 0 ? draw(fc.constantFrom, '', ',', ' ') : ''}]`
    }
    // What stands beside or above an item may go with it, so these comments are not looked for.
    let written = '['
    let commented = false
    items.forEach((item, index) => {
      if (commented || draw(fc.boolean)) written += draw(fc.constantFrom, '\n  ', '\n  # above ],\n  ')
      else if (index > 0) written += ' '
      written += write(item, false) + (index < items.length - 1 || draw(fc.boolean) ? ',' : '')
      commented = draw(fc.constantFrom, false, false, true)
      if (commented) written += draw(fc.constantFrom, ' # beside ]', '# "')
    })
    return `${written}${commented ? '\n' : draw(fc.constantFrom, '', '\n', ' ')}]`
  }

  function string(value: string, lines: boolean): string {
    const basic = JSON.stringify(value).replaceAll('\u007f', '\\u007f')
    const style = draw(fc.constantFrom, 'basic', 'basic', 'literal', 'long', 'long literal')
    const literal = !/[\u0000-\u0008\u000a-\u001f\u007f]/.test(value)
    if (style === 'literal' && literal && !value.includes("'")) return `'${value}'`
    if (style === 'long literal' && lines && literal && !value.includes("'")) return `'''\n${value}'''`
    if (style === 'long' && lines)
      return `"""${draw(fc.constantFrom, '', '\n', '\\\n   ')}${basic.slice(1, -1)}"""`
    return basic
  }

  function key(value: string): string {
    if (/^[A-Za-z0-9_-]+$/.test(value) && draw(fc.constantFrom, true, true, false)) return value
    return string(value, false)
  }

  function above(): string {
    return draw(fc.constantFrom, false, false, false, true) ? `# ${comment()} [x]\n${indent}` : ''
  }

  function beside(): string {
    return draw(fc.constantFrom, false, false, true)
      ? `${draw(fc.constantFrom, ' ', '\t', '')}# ${comment()} = "`
      : ''
  }

  /** What `write` writes can be taken out again, so comments in it are not looked for. */
  function mayGo(write: () => string): string {
    const count = comments.length
    const written = write().replace(/<<\d+>>/g, 'may go')
    comments.length = count
    return written
  }

  function comment(): string {
    comments.push(`<<${comments.length}>>`)
    return comments.at(-1) ?? ''
  }
}
