import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Parsed, Path, Settable, Table } from './parsed-document.ts'
import { type Edit, type Lines, linesOf } from './text-edit.ts'

/**
 * JSON with comments and trailing commas, as the runtimes' own files have them. The library gives the tree with its
 * offsets; the edits are made here, because the library's own `modify` edits the first of two equal names, where
 * every reader takes the last, and parses the whole text again for each one.
 */
export function parseJson(text: string): Parsed {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error !== undefined)
    return { ok: false, problem: `${printParseErrorCode(error.error)} at ${place(text, error.offset)}` }
  if (root === undefined) return { ok: false, problem: 'it holds no value' }

  const lines = linesOf(text)
  const eol = lines.ending
  const names = new WeakMap<Node, Map<string, Node>>()
  const replacements: Edit[] = []
  // Kept by object until the end: two insertions into one object would each bring a comma of their own.
  const additions = new Map<Node, Map<string, Settable | Table>>()
  const unit = indentUnit(lines, root)

  function property(object: Node, name: string): Node | undefined {
    let index = names.get(object)
    if (index === undefined) {
      index = new Map(object.children?.map((node) => [String(node.children?.[0]?.value), node]))
      names.set(object, index)
    }
    return index.get(name)
  }

  function find(path: Path): Node | undefined {
    let node: Node | undefined = root
    for (const name of path) {
      if (node?.type !== 'object') return undefined
      node = property(node, name)?.children?.[1]
    }
    return node
  }

  function assign(path: Path, entries: ReadonlyMap<string, Settable | Table>): void {
    const object = find(path)
    const last = path.at(-1)
    if (object === undefined && last !== undefined) {
      assign(path.slice(0, -1), new Map([[last, Object.fromEntries(entries)]]))
      return
    }
    if (object?.type !== 'object') return
    for (const [name, value] of entries) {
      const old = property(object, name)?.children?.[1]
      if (old !== undefined) {
        replacements.push({
          start: old.offset,
          end: endOf(old),
          text: isSettable(value) ? valueText(value) : JSON.stringify(value),
        })
      } else {
        const added = additions.get(object) ?? new Map<string, Settable | Table>()
        additions.set(object, added.set(name, value))
      }
    }
  }

  function insert(object: Node, entries: ReadonlyMap<string, Settable | Table>): Edit[] {
    const last = object.children?.at(-1)
    const layout = layoutOf(object)
    const rendered = [...entries].map(
      ([name, value]) => `${JSON.stringify(name)}${layout.colon}${render(value, layout)}`,
    )
    const { separator, opening, closing } = layout
    if (last === undefined) {
      const inside = { start: object.offset + 1, end: endOf(object) - 1 }
      const empty = text.slice(inside.start, inside.end).trim() === ''
      // A comment inside the empty braces stays, behind what is put in.
      return [
        {
          start: inside.start,
          end: empty ? inside.end : inside.start,
          text: opening + rendered.join(`,${separator}`) + (empty ? closing : ''),
        },
      ]
    }
    const tail = tailOf(last, object)
    const edits: Edit[] = tail.comma ? [] : [{ start: endOf(last), end: endOf(last), text: ',' }]
    edits.push({
      start: tail.end,
      end: tail.end,
      text: separator + rendered.join(`,${separator}`) + (tail.comma ? ',' : ''),
    })
    return edits
  }

  /** Where the last property's own line ends: behind its comma and the comments beside it. */
  function tailOf(last: Node, object: Node): { end: number; comma: boolean } {
    const close = endOf(object) - 1
    let end = endOf(last)
    let comma = false
    let broken = false
    for (let at = end; at < close; ) {
      const comment = commentEnd(at)
      if (text[at] === '\n') broken = true
      if (text[at] === ',') {
        comma = true
        broken = false
        end = at + 1
      } else if (comment !== null && !broken) end = comment
      at = comment ?? at + 1
    }
    return { end, comma }
  }

  /** The end of the comment that starts at an offset outside strings; null when none does. */
  function commentEnd(start: number): number | null {
    if (text[start] !== '/') return null
    const block = text[start + 1] === '*'
    const end = text.indexOf(block ? '*/' : '\n', start + 2)
    if (end < 0) return text.length
    if (block) return end + 2
    return text[end - 1] === '\r' ? end - 1 : end
  }

  interface Layout {
    colon: string
    separator: string
    opening: string
    closing: string
    /** Null for an object on one line. */
    indent: string | null
  }

  /** How an object is written, so that what is put in looks like what is there. */
  function layoutOf(object: Node): Layout {
    const [first] = object.children ?? []
    const last = object.children?.at(-1)
    const around = object.parent?.parent
    const colon = colonOf(last) ?? colonOf(around?.children?.[0]) ?? ': '
    const outer = lines.indentation(object.offset)
    if (first !== undefined && last !== undefined) {
      const spread = hasBreak(object.offset, first.offset) || hasBreak(endOf(last), endOf(object))
      const own = lines.indentation(last.offset)
      return layout(colon, spread ? (own.length > outer.length ? own : outer + unit) : null, outer)
    }
    const spread =
      hasBreak(object.offset, endOf(object)) || (around !== undefined && layoutOf(around).indent !== null)
    return layout(colon, spread ? outer + unit : null, outer)
  }

  function layout(colon: string, indent: string | null, outer: string): Layout {
    if (indent !== null)
      return { colon, separator: eol + indent, opening: eol + indent, closing: eol + outer, indent }
    const gap = colon === ':' ? '' : ' '
    return { colon, separator: gap, opening: gap, closing: gap, indent }
  }

  function render(value: Settable | Table, around: Layout): string {
    if (isSettable(value)) return valueText(value)
    const { opening, closing, separator, colon } = layout(
      around.colon,
      around.indent === null ? null : around.indent + unit,
      around.indent ?? '',
    )
    const pairs = Object.entries(value).map(
      ([name, inner]) => `${JSON.stringify(name)}${colon}${JSON.stringify(inner)}`,
    )
    return `{${opening}${pairs.join(`,${separator}`)}${closing}}`
  }

  /** What stands between a name and its value; null where that is more than blanks on the same line. */
  function colonOf(property: Node | undefined): string | null {
    const [name, value] = property?.children ?? []
    if (name === undefined || value === undefined) return null
    const between = text.slice(endOf(name), value.offset)
    return /^:[ \t]*$/.test(between) ? between : null
  }

  function hasBreak(start: number, end: number): boolean {
    return text.slice(start, end).includes('\n')
  }

  return {
    ok: true,
    parsed: {
      value: getNodeValue(root),
      assign,
      removeItems() {
        throw new Error('no runtime that is configured in JSON has lists to clean')
      },
      edits: () => [
        ...replacements,
        ...[...additions].flatMap(([object, entries]) => insert(object, entries)),
      ],
    },
  }
}

function isSettable(value: Settable | Table): value is Settable {
  return typeof value !== 'object' || Array.isArray(value)
}

function valueText(value: Settable): string {
  if (typeof value !== 'object') return JSON.stringify(value)
  return `[${value.map((each) => JSON.stringify(each)).join(', ')}]`
}

function endOf(node: Node): number {
  return node.offset + node.length
}

function indentUnit(lines: Lines, root: Node): string {
  const first = root.type === 'object' ? root.children?.[0] : undefined
  const unit = first === undefined ? '' : lines.indentation(first.offset)
  return unit === '' ? '  ' : unit
}

function place(text: string, offset: number): string {
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  return `line ${line}, column ${offset - before.lastIndexOf('\n')}`
}
