import type { Edit } from './text-edit.ts'

export type Path = readonly string[]
/** What a name can be set to. A list that is set takes the place of the old one whole, comments and all. */
export type Settable = string | number | readonly string[]
/** A table of a parsed document: no prototype, so that every name is data. */
export type Table = Record<string, unknown>

/** What a format has to be able to do. Nothing is applied: changes are recorded, and `edits` answers with them. */
export interface ParsedDocument {
  /** Tables without prototypes; of a name that JSON has twice, the last one, as runtimes read it. */
  readonly value: unknown
  /** Sets names of the table at `path`; its last step is made when it is not there. */
  assign(path: Path, entries: ReadonlyMap<string, Settable>): void
  /** Removes items of the array at `path`, and the array itself when none is left. */
  removeItems(path: Path, indexes: ReadonlySet<number>): void
  edits(): Edit[]
}

/** `problem` says what is wrong and where, as a part of a sentence. */
export type Parsed = { ok: true; parsed: ParsedDocument } | { ok: false; problem: string }

/** Parsed tables have no prototype; TOML dates, which are objects too, have one. */
export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null
}

export function own(table: unknown, name: string): unknown {
  return isTable(table) && Object.hasOwn(table, name) ? table[name] : undefined
}

/** What stands at a path, looking at own names only; undefined when nothing does. */
export function valueAt(value: unknown, path: Path): unknown {
  let current = value
  for (const name of path) current = own(current, name)
  return current
}

export function tableAt(value: unknown, path: Path): Table | undefined {
  const found = valueAt(value, path)
  return isTable(found) ? found : undefined
}
