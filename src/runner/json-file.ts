import { readFile } from 'node:fs/promises'
import { type ParseError, parse } from 'jsonc-parser'
import { isRecord } from '../base/json.ts'

/** The object in a file of a runtime's own; an empty one where there is none, or none that can be read. */
export async function readJson(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, 'utf8').catch(() => null)
  return text === null ? {} : record(parseJson(text))
}

/** A value as runtimes read it, comments and trailing commas and all; undefined for what is none. */
export function parseJson(text: string): unknown {
  const errors: ParseError[] = []
  const value: unknown = parse(text.replace(/^\uFEFF/, ''), errors, { allowTrailingComma: true })
  return errors.length === 0 ? value : undefined
}

/** A value that is an object; an empty one for anything else. */
export function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

/** The texts of a list. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
