import { parse, TomlError } from 'smol-toml'
import type { Parsed, Path, Settable } from './parsed-document.ts'
import { type Edit, linesOf } from './text-edit.ts'
import {
  type ArrayValue,
  type Assignment,
  type Container,
  type HeaderTable,
  type InlineTable,
  type Listed,
  outline,
  pathKey,
} from './toml-outline.ts'

/**
 * TOML. The library reads and decides what is valid; it keeps no comments when it writes, so the text is edited at
 * the places that the outline names. All ways of writing a table are served: `[header]`, `[header.sub]`, inline,
 * dotted keys, at the root or below a header.
 */
export function parseToml(text: string): Parsed {
  let value: unknown
  try {
    // Large integers must compare exactly when the edited text is checked.
    value = parse(text, { integersAsBigInt: 'asNeeded' })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [reason] = error.message.split('\n')
    return { ok: false, problem: `${reason} at line ${error.line}, column ${error.column}` }
  }
  const lines = linesOf(text)
  const eol = lines.ending
  const found = outline(text)
  const edits: Edit[] = []

  function assign(path: Path, entries: ReadonlyMap<string, Settable>): void {
    const added = new Map(entries)
    for (const [name, value] of entries) {
      const old = found.assignments.get(pathKey([...path, name]))
      if (old === undefined) continue
      edits.push({ start: old.value.start, end: old.value.end, text: valueText(value) })
      added.delete(name)
    }
    if (added.size > 0) edits.push(...insert(path, added))
  }

  function insert(path: Path, entries: ReadonlyMap<string, Settable>): Edit[] {
    const pairs = [...entries].map(([name, value]) => `${keyText(name)} = ${valueText(value)}`)
    const place = placeOf(path)
    if (place !== undefined) return add(place, pairs)

    // The table is not there. It becomes an inline table or dotted keys where its parent is one, else a header.
    const parent = placeOf(path.slice(0, -1))
    const name = keyText(path.at(-1) ?? '')
    if (parent === undefined) return []
    if (parent.prefix !== '') return add({ ...parent, prefix: `${parent.prefix}.${name}` }, pairs)
    if (parent.container.kind === 'inline') return add(parent, [`${name} = { ${pairs.join(', ')} }`])
    const header = parent.container.nameText === '' ? name : `${parent.container.nameText}.${name}`
    // Set off by a blank line from what stands before and, unless there is one already, from what follows.
    const bottom = lines.endOf((parent.container.assignments.at(-1) ?? parent.container).end)
    const crowded = /^\r?\n[ \t]*[^\s]/.test(text.slice(bottom, bottom + 200))
    return addLines(parent.container, ['', `[${header}]`, ...pairs, ...(crowded ? [''] : [])])
  }

  interface Place {
    container: Container
    /** What stands before a name of this table in its container: empty, or `x.env` for a table of dotted keys. */
    prefix: string
    after?: Assignment
  }

  function placeOf(path: Path): Place | undefined {
    const key = pathKey(path)
    const container = found.inlineTables.get(key) ?? found.headers.get(key)
    if (container !== undefined) return { container, prefix: '' }
    const dotted = found.dotted.get(key)
    if (dotted === undefined) return undefined
    const { assignment, parts } = dotted
    const prefix = text.slice(assignment.start, assignment.keyEnds[parts - 1])
    return { container: assignment.container, prefix, after: assignment }
  }

  function add({ container, prefix, after }: Place, pairs: string[]): Edit[] {
    const whole = prefix === '' ? pairs : pairs.map((pair) => `${prefix}.${pair}`)
    return container.kind === 'inline' ? addInline(container, whole) : addLines(container, whole, after)
  }

  /** At the front of an inline table, because its end may be taken away at the same time. */
  function addInline(table: InlineTable, pairs: string[]): Edit[] {
    const [first] = table.assignments
    if (first !== undefined) return [{ start: first.start, end: first.start, text: `${pairs.join(', ')}, ` }]
    const inside = { start: table.start + 1, end: table.end - 1 }
    const empty = text.slice(inside.start, inside.end).trim() === ''
    return [{ start: inside.start, end: empty ? inside.end : inside.start, text: ` ${pairs.join(', ')} ` }]
  }

  /** As lines behind the last one of a header's body: what follows (blank lines, comments) belongs to the next. */
  function addLines(header: HeaderTable, added: string[], after = header.assignments.at(-1)): Edit[] {
    if (after === undefined && header.nameText === '') {
      return [{ start: 0, end: 0, text: added.map((line) => line + eol).join('') }]
    }
    const neighbour = after ?? header
    const indent = lines.indentation(neighbour.start)
    const end = lines.endOf(neighbour.end)
    return [{ start: end, end, text: added.map((line) => eol + (line === '' ? '' : indent + line)).join('') }]
  }

  function removals(path: Path, indexes: ReadonlySet<number>): Edit[] {
    const blocks = found.arrayHeaders.get(pathKey(path))
    if (blocks !== undefined) return blocks.filter((_, index) => indexes.has(index)).map(removeBlock)
    const assignment = found.assignments.get(pathKey(path))
    if (assignment?.value.kind !== 'array') return []
    const { items } = assignment.value
    if (items.some((_, index) => !indexes.has(index))) return removeListed(assignment.value, indexes)
    const { container } = assignment
    if (container.kind === 'header') return [wholeLines(assignment.start, assignment.end)]
    return removeListed(
      { ...container, items: container.assignments },
      new Set([container.assignments.indexOf(assignment)]),
    )
  }

  function removeBlock(header: HeaderTable): Edit {
    return wholeLines(header.start, header.assignments.at(-1)?.end ?? header.end)
  }

  function removeListed(list: Pick<ArrayValue, 'items'>, indexes: ReadonlySet<number>): Edit[] {
    const { items } = list
    const removed = items.filter((_, index) => indexes.has(index)).map(removal)
    // Without a comma behind the last member, the one before the removed tail would be left over.
    const kept = items.findLast((_, index) => !indexes.has(index))
    const last = items.at(-1)
    if (kept !== undefined && kept !== last && kept.comma !== null && last?.comma === null) {
      const blanks =
        /^[ \t]*(?=[^ \t\r\n#])/.exec(text.slice(kept.comma + 1, lines.endOf(kept.comma)))?.[0] ?? ''
      removed.push({ start: kept.comma, end: kept.comma + 1 + blanks.length, text: '' })
    }
    return removed
  }

  /** A member with its comma; with its line and the comment beside it, when it has the line for itself. */
  function removal(item: Listed): Edit {
    const end = item.comma === null ? item.end : item.comma + 1
    const before = text.slice(lines.startOf(item.start), item.start)
    const behind = text.slice(end, lines.endOf(end))
    if (/^[ \t]*$/.test(before) && /^[ \t]*(#.*)?$/.test(behind)) return wholeLines(item.start, end)
    // The blanks on one side go too: before it where nothing but a comment follows, else behind it.
    let [from, to] = [item.start, end]
    if (item.comma === null || /^[ \t]*(#.*)?$/.test(behind)) while (isBlank(text[from - 1])) from--
    else while (isBlank(text[to])) to++
    return { start: from, end: to, text: '' }
  }

  /** The lines of a range, with the line break before them, so that text can still be put behind the line. */
  function wholeLines(start: number, end: number): Edit {
    const first = lines.startOf(start)
    const last = lines.endOf(end)
    if (first > 0) return { start: first - (text[first - 2] === '\r' ? 2 : 1), end: last, text: '' }
    return { start: 0, end: last + (text[last] === '\r' ? 2 : 1), text: '' }
  }

  return {
    ok: true,
    parsed: {
      value,
      assign,
      removeItems(path, indexes) {
        for (const edit of removals(path, indexes)) edits.push(edit)
      },
      edits: () => edits,
    },
  }
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}

function keyText(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : stringText(name)
}

function valueText(value: Settable): string {
  if (typeof value === 'object') return `[${value.map(stringText).join(', ')}]`
  return typeof value === 'string' ? stringText(value) : String(value)
}

/** A basic string. JSON's escapes are all TOML escapes; JSON leaves DEL alone, which TOML wants escaped. */
function stringText(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f')
}
