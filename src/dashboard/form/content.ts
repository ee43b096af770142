import type { Json } from '../../base/json.ts'
import type { checkField } from '../../elicitation/form/check.ts'
import type { Form, FormField } from '../../elicitation/form/field.ts'
import { type Entry, initialEntry, readEntry } from './entry.ts'

/** The rules of the server, which come with a regular expression engine and so are loaded when first needed. */
export type CheckField = typeof checkField

export async function loadRules(): Promise<CheckField> {
  return (await import('../../elicitation/form/check.ts')).checkField
}

/** Sentences about what is wrong, by the position of the field. */
export type Problems = ReadonlyMap<number, readonly string[]>

export const noProblems: Problems = new Map()

export type ContentReading =
  | { ok: true; content: Record<string, Json> | null }
  | { ok: false; problems: Problems }

export function problemsOf(field: FormField, entry: Entry, check: CheckField): readonly string[] {
  const reading = readEntry(field, entry)
  if (!reading.ok) return [reading.message]
  const verdict = check(field, reading.value)
  return verdict.ok ? [] : verdict.messages
}

/** What an Accept sends: all fields checked at once, empty ones left out, null when nothing is left. */
export function readContent(
  form: Form,
  entryOf: (index: number) => Entry,
  check: CheckField,
): ContentReading {
  if (form.confirmation !== null)
    return { ok: true, content: Object.fromEntries([[form.confirmation, true]]) }
  const problems = new Map<number, readonly string[]>()
  // Pairs until the end: `__proto__` is a name like any other.
  const content: [string, Json][] = []
  form.fields.forEach((field, index) => {
    const found = problemsOf(field, entryOf(index), check)
    if (found.length > 0) problems.set(index, found)
    const reading = readEntry(field, entryOf(index))
    if (reading.ok && reading.value !== undefined) content.push([field.name, reading.value])
  })
  if (problems.size > 0) return { ok: false, problems }
  return { ok: true, content: content.length > 0 ? Object.fromEntries(content) : null }
}

/** Problems as the server reports them, by name, at the fields that they are about. */
export function problemsByField(
  form: Form,
  reported: readonly { name: string; message: string }[],
): Problems {
  const problems = new Map<number, string[]>()
  for (const { name, message } of reported) {
    const index = form.fields.findIndex((field) => field.name === name)
    if (index >= 0) problems.set(index, [...(problems.get(index) ?? []), message])
  }
  return problems
}

export function initialEntries(form: Form): Entry[] {
  return form.fields.map(initialEntry)
}
