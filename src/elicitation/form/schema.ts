import { isRecord, own } from '../../base/json.ts'
import { makeVisible } from '../../base/text.ts'
import { checkField } from './check.ts'
import type { FormField } from './field.ts'
import { show } from './show.ts'

// Reading a stranger's JSON Schema, keyword by keyword. What cannot be used leaves a note.

export type Schema = Record<string, unknown>

/** What every field has, before its kind is known. */
export type Described = Pick<FormField, 'name' | 'title' | 'description' | 'required' | 'notes'>

/** The one type that a value can have; `several` when there is a choice of them, null when none is named. */
export function typeOf(schema: Schema): string | null {
  const type = own(schema, 'type')
  if (typeof type === 'string') return type
  if (!Array.isArray(type)) return null
  const types = new Set(type.filter((member) => member !== 'null'))
  const [one] = types
  return types.size === 1 && typeof one === 'string' ? one : 'several'
}

export function isNullSchema(schema: unknown): boolean {
  return isRecord(schema) && own(schema, 'type') === 'null'
}

/** `anyOf: [X, null]`, which is how some servers write an optional X, is X: an answer is never null, it is left out. */
export function withoutNull(schema: Schema): Schema {
  if (own(schema, 'type') !== undefined) return schema
  const alternatives = [own(schema, 'anyOf'), own(schema, 'oneOf')].filter((list) => list !== undefined)
  if (alternatives.length !== 1 || !Array.isArray(alternatives[0])) return schema
  const [branch, ...others] = alternatives[0].filter((alternative) => !isNullSchema(alternative))
  if (!isRecord(branch) || others.length > 0 || Object.hasOwn(branch, 'const')) return schema
  const { anyOf: _anyOf, oneOf: _oneOf, ...outer } = schema
  return { ...branch, ...outer }
}

// Without a type, these say that the value is not simply a text.
const shapes = [
  '$ref',
  '$dynamicRef',
  'properties',
  'items',
  'prefixItems',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'if',
]

export function hasShape(schema: Schema): boolean {
  return shapes.some((keyword) => Object.hasOwn(schema, keyword))
}

export function readableText(text: unknown): string | null {
  return typeof text === 'string' && text.trim() !== '' ? makeVisible(text) : null
}

type NumberKeyword = { name: string; whole?: boolean; positive?: boolean }

export function readNumber(
  schema: Schema,
  notes: string[],
  { name, whole, positive }: NumberKeyword,
): number | null {
  const value = own(schema, name)
  if (value === undefined) return null
  const fits =
    typeof value === 'number' &&
    Number.isFinite(value) &&
    (!whole || (Number.isInteger(value) && value >= 0)) &&
    (!positive || value > 0)
  if (fits) return value
  notes.push(`The server's ${name} ${show(value)} makes no sense and was ignored.`)
  return null
}

/** The default, if it is an answer that the field takes. In many servers' schemas null stands for none. */
export function readDefault<Value>(field: FormField, schema: Schema): Value | null {
  const value = own(schema, 'default')
  if (value === undefined || value === null || (value === '' && field.kind === 'text')) return null
  const verdict = checkField(field, value)
  if (verdict.ok) return verdict.value as Value
  field.notes.push(`The server's default ${show(value)} is not allowed here and was ignored.`)
  return null
}

export const textKeywords = ['minLength', 'maxLength', 'pattern', 'format']
export const numberKeywords = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

const combining = ['$ref', '$dynamicRef', 'allOf', 'not', 'if']

/** Notes the keywords that a validator would enforce and we do not: those that combine schemas, and the ones given. */
export function noteUnchecked(notes: string[], schema: Schema, keywords: string[]) {
  const found = [...combining, ...keywords].filter((keyword) => own(schema, keyword) !== undefined)
  if (found.length > 0) notes.push(notChecked(found.join(', ')))
}

export function notChecked(what: string): string {
  return `Also required by the server, not checked here: ${what}.`
}
