import { parse } from 'smol-toml'

/**
 * Where things stand in a TOML text: headers, assignments, inline tables and array items with their offsets. The
 * TOML library says what a text means but not where; this says where and nothing else. It is only ever given text
 * that the library has accepted, so it checks nothing, and what is edited with its help is parsed again afterwards.
 */

/**
 * What lies deeper is not entered: nothing that is edited does, and a key of a million parts would otherwise take a
 * path of a million steps for every line below it.
 */
const depthMax = 16

/** A place that holds assignments: the root and each `[header]` (with its lines below it), or an inline table. */
export type Container = HeaderTable | InlineTable

/** The whole path from the root; null for what lies too deep to be entered. */
type EntryPath = readonly string[] | null

export interface HeaderTable {
  kind: 'header'
  path: EntryPath
  /** The name as written between the brackets; empty for the root. */
  nameText: string
  /** From the bracket to the end of the header; both 0 for the root. */
  start: number
  end: number
  assignments: Assignment[]
}

export interface InlineTable {
  kind: 'inline'
  path: EntryPath
  start: number
  end: number
  assignments: Assignment[]
}

export interface ArrayValue {
  kind: 'array'
  start: number
  end: number
  items: Listed[]
}

export interface ScalarValue {
  kind: 'scalar'
  start: number
  end: number
}

export type Value = InlineTable | ArrayValue | ScalarValue

/** A member of an array or of an inline table. `comma` is the offset of the comma behind it, null without one. */
export interface Listed {
  start: number
  end: number
  comma: number | null
}

export interface Assignment extends Listed {
  container: Container
  path: EntryPath
  /** End offsets of the parts of the dotted key: the key's text up to part i is [start, keyEnds[i]). */
  keyEnds: number[]
  value: Value
}

export interface Outline {
  /** The last assignment of each path. */
  assignments: Map<string, Assignment>
  /** `[headers]`, the root under the empty path. */
  headers: Map<string, HeaderTable>
  /** `[[headers]]`, in order. */
  arrayHeaders: Map<string, HeaderTable[]>
  inlineTables: Map<string, InlineTable>
  /** For each table that exists through dotted keys only, the last assignment into it and how many parts name it. */
  dotted: Map<string, { assignment: Assignment; parts: number }>
}

export function pathKey(path: readonly string[]): string {
  return JSON.stringify(path)
}

function below(path: EntryPath, parts: readonly string[]): EntryPath {
  return path === null || path.length + parts.length > depthMax ? null : [...path, ...parts]
}

export function outline(text: string): Outline {
  const found: Outline = {
    assignments: new Map(),
    headers: new Map(),
    arrayHeaders: new Map(),
    inlineTables: new Map(),
    dotted: new Map(),
  }
  let at = 0
  let current: HeaderTable = { kind: 'header', path: [], nameText: '', start: 0, end: 0, assignments: [] }
  found.headers.set(pathKey([]), current)

  skipVoid()
  while (at < text.length) {
    if (text[at] === '[') readHeader()
    else readAssignment(current)
    skipVoid()
  }
  return found

  function readHeader(): void {
    const start = at
    const isArray = text[at + 1] === '['
    at += isArray ? 2 : 1
    skipBlanks()
    const nameStart = at
    const { parts, ends } = readKey()
    const nameEnd = ends.at(-1) ?? nameStart
    skipBlanks()
    at += isArray ? 2 : 1
    const nameText = text.slice(nameStart, nameEnd)
    current = { kind: 'header', path: below([], parts), nameText, start, end: at, assignments: [] }
    if (current.path === null) return
    const key = pathKey(current.path)
    if (!isArray) found.headers.set(key, current)
    else if (!found.arrayHeaders.get(key)?.push(current)) found.arrayHeaders.set(key, [current])
  }

  function readAssignment(container: Container): Assignment {
    const start = at
    const { parts, ends } = readKey()
    skipBlanks()
    at++ // =
    skipBlanks()
    const path = below(container.path, parts)
    const value = readValue(path)
    const assignment: Assignment = { container, path, keyEnds: ends, value, start, end: at, comma: null }
    container.assignments.push(assignment)
    if (path === null || container.path === null) return assignment
    found.assignments.set(pathKey(path), assignment)
    for (let count = 1; count < parts.length; count++) {
      found.dotted.set(pathKey([...container.path, ...parts.slice(0, count)]), { assignment, parts: count })
    }
    return assignment
  }

  function readValue(path: EntryPath): Value {
    const start = at
    switch (text[at]) {
      case '"':
      case "'":
        skipString()
        return { kind: 'scalar', start, end: at }
      case '[':
        return readArray(path)
      case '{':
        return readInlineTable(path)
      default: {
        while (at < text.length && !',]}#\r\n'.includes(text.charAt(at))) at++
        // A date may have a blank inside, so the end is where the trailing blanks begin.
        while (at > start && (text[at - 1] === ' ' || text[at - 1] === '\t')) at--
        return { kind: 'scalar', start, end: at }
      }
    }
  }

  function readArray(path: EntryPath): ArrayValue {
    const array: ArrayValue = { kind: 'array', start: at, end: at, items: [] }
    readList(']', () => {
      const start = at
      // Items have no path that anybody could ask for; the step keeps them apart from the array's own.
      readValue(below(path, [String(array.items.length)]))
      const item: Listed = { start, end: at, comma: null }
      array.items.push(item)
      return item
    })
    array.end = at
    return array
  }

  function readInlineTable(path: EntryPath): InlineTable {
    const table: InlineTable = { kind: 'inline', path, start: at, end: at, assignments: [] }
    if (path !== null) found.inlineTables.set(pathKey(path), table)
    readList('}', () => readAssignment(table))
    table.end = at
    return table
  }

  function readList(close: string, readMember: () => Listed): void {
    at++ // the opening bracket
    skipVoid()
    while (at < text.length && text[at] !== close) {
      const before = at
      const member = readMember()
      // Cannot happen with valid text; if it ever does, the edited text will not read as intended and is dropped.
      if (at === before) at = text.length
      skipVoid()
      if (text[at] === ',') {
        member.comma = at++
        skipVoid()
      }
    }
    at++
  }

  function readKey(): { parts: string[]; ends: number[] } {
    const parts: string[] = []
    const ends: number[] = []
    for (;;) {
      const start = at
      const quoted = text[at] === '"' || text[at] === "'"
      if (quoted) skipString()
      else while (/[A-Za-z0-9_-]/.test(text.charAt(at))) at++
      const written = text.slice(start, at)
      // The library decides what escapes mean.
      parts.push(quoted ? (Object.keys(parse(`${written} = 0`))[0] ?? '') : written)
      ends.push(at)
      skipBlanks()
      if (text[at] !== '.') return { parts, ends }
      at++
      skipBlanks()
    }
  }

  function skipString(): void {
    const quote = text.charAt(at)
    const delimiter = text.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote
    at += delimiter.length
    while (at < text.length && !text.startsWith(delimiter, at))
      at += quote === '"' && text[at] === '\\' ? 2 : 1
    at += delimiter.length
    // Up to two quotes may stand right before the closing three; the last three close.
    if (delimiter.length === 3) while (text[at] === quote) at++
  }

  function skipBlanks(): void {
    while (text[at] === ' ' || text[at] === '\t') at++
  }

  function skipVoid(): void {
    for (;;) {
      while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at++
      if (text[at] !== '#') return
      const end = text.indexOf('\n', at)
      at = end < 0 ? text.length : end
    }
  }
}
