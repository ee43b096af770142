import { isRecord, own } from '../../base/json.ts'
import { makeVisible } from '../../base/text.ts'
import type { Option, OptionValue } from './field.ts'
import { isNullSchema, readableText, type Schema } from './schema.ts'

export type Listed = { options: Option[]; notes: string[] }

/**
 * The choices of a schema that lists its values: `enum` (with the legacy `enumNames`), `oneOf` or `anyOf` of
 * `{const, title}`, or one `const`. Null when it lists none. Values that its type excludes, and shapes, are ignored.
 */
export function listedOptions(schema: Schema, type: string | null): Listed | null {
  if (type !== null && neverListed.has(type)) return null
  const entries = listedEntries(schema)
  if (!entries) return null
  const options = new Map<OptionValue, Option>()
  let ignored = 0
  for (const { value, label } of entries) {
    if (value === null) continue
    if (!isOptionValue(value) || !hasType(value, type)) ignored += 1
    else if (!options.has(value)) options.set(value, { value, label: label ?? labelOf(value) })
  }
  return {
    options: [...options.values()],
    notes: ignored > 0 ? [`${ignored} of the server's options cannot be answers here and were ignored.`] : [],
  }
}

const neverListed = new Set(['array', 'object', 'null'])

type Entry = { value: unknown; label: string | null }

function listedEntries(schema: Schema): Entry[] | null {
  const values = own(schema, 'enum')
  if (Array.isArray(values)) {
    const names = own(schema, 'enumNames')
    const named = Array.isArray(names) && names.length === values.length
    return values.map((value, index) => ({ value, label: named ? readableText(names[index]) : null }))
  }
  for (const keyword of ['oneOf', 'anyOf']) {
    const alternatives = own(schema, keyword)
    if (!Array.isArray(alternatives)) continue
    const constants = alternatives.filter((alternative) => !isNullSchema(alternative))
    if (!constants.every((constant) => isRecord(constant) && Object.hasOwn(constant, 'const'))) continue
    return constants.map((constant) => ({
      value: constant.const,
      label: readableText(own(constant, 'title')),
    }))
  }
  return Object.hasOwn(schema, 'const') ? [{ value: schema.const, label: null }] : null
}

function labelOf(value: OptionValue): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  return typeof value === 'string' ? makeVisible(value) || '(empty)' : String(value)
}

function isOptionValue(value: unknown): value is OptionValue {
  return (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
}

function hasType(value: OptionValue, type: string | null): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'number':
      return typeof value === type
    case 'integer':
      return Number.isInteger(value)
    default:
      return true
  }
}
