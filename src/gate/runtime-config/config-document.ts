import { isDeepStrictEqual } from 'node:util'
import { parseJson } from './json-document.ts'
import { type Parsed, type Path, type Settable, tableAt, valueAt } from './parsed-document.ts'
import { applyEdits } from './text-edit.ts'
import { parseToml } from './toml-document.ts'

export type ConfigFormat = 'JSON' | 'TOML'

/**
 * A config file as text that is edited in place: only what is set or removed changes, and every other byte, comment
 * and blank stays. The same for JSON (with comments) and TOML.
 */
export interface ConfigDocument {
  /** As parsed, with the recorded changes in it. */
  readonly value: unknown
  assign(path: Path, entries: ReadonlyMap<string, Settable>): void
  removeItems(path: Path, indexes: ReadonlySet<number>): void
  /**
   * The edited text, or null when reading it again does not give exactly `value`: a shape that the editor does not
   * master must cost the edit, never the file.
   */
  render(): string | null
}

export type Opened = { ok: true; document: ConfigDocument } | { ok: false; problem: string }

const byteOrderMark = '\uFEFF'

export function openDocument(format: ConfigFormat, text: string): Opened {
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : ''
  const body = text.slice(mark.length)
  const original = parse(format, body)
  if (!original.ok) return original
  const { parsed } = original
  const { value } = parsed

  const document: ConfigDocument = {
    value,
    assign(path, entries) {
      const changed = new Map(
        [...entries].filter(([name, settable]) => valueAt(value, [...path, name]) !== settable),
      )
      if (changed.size === 0) return
      parsed.assign(path, changed)
      const parent = tableAt(value, path.slice(0, -1))
      const last = path.at(-1)
      if (parent === undefined || last === undefined)
        throw new Error(`there is no table at ${path.join('.')}`)
      if (!Object.hasOwn(parent, last)) parent[last] = Object.create(null)
      const table = tableAt(parent, [last])
      if (table === undefined) throw new Error(`${path.join('.')} is not a table`)
      for (const [name, settable] of changed) table[name] = settable
    },
    removeItems(path, indexes) {
      const items = valueAt(value, path)
      const table = tableAt(value, path.slice(0, -1))
      const last = path.at(-1)
      if (!Array.isArray(items) || table === undefined || last === undefined) {
        throw new Error(`${path.join('.')} is not an array`)
      }
      if (indexes.size === 0) return
      parsed.removeItems(path, indexes)
      const kept = items.filter((_, index) => !indexes.has(index))
      if (kept.length > 0) table[last] = kept
      else delete table[last]
    },
    render() {
      const edits = parsed.edits()
      if (edits.length === 0) return text
      const edited = applyEdits(body, edits)
      const again = parse(format, edited)
      return again.ok && same(again.parsed.value, value) ? mark + edited : null
    },
  }
  return { ok: true, document }
}

function parse(format: ConfigFormat, body: string): Parsed {
  try {
    return format === 'JSON' ? parseJson(body) : parseToml(body)
  } catch (error) {
    // Both readers recurse: a file of nothing but brackets exhausts the stack.
    if (error instanceof RangeError) return { ok: false, problem: 'it is nested too deeply' }
    throw error
  }
}

function same(a: unknown, b: unknown): boolean {
  try {
    return isDeepStrictEqual(a, b)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
