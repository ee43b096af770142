import { own } from '../../base/json.ts'
import type { NumberField } from './field.ts'
import { type Described, noteUnchecked, readDefault, readNumber, type Schema } from './schema.ts'

export function numberField(described: Described, schema: Schema, integer: boolean): NumberField {
  const { notes } = described
  const minimum = readNumber(schema, notes, { name: 'minimum' })
  const maximum = readNumber(schema, notes, { name: 'maximum' })
  const field: NumberField = {
    kind: 'number',
    ...described,
    integer,
    minimum,
    maximum,
    exclusiveMinimum: exclusiveBound(schema, notes, 'exclusiveMinimum', minimum),
    exclusiveMaximum: exclusiveBound(schema, notes, 'exclusiveMaximum', maximum),
    multipleOf: readNumber(schema, notes, { name: 'multipleOf', positive: true }),
    default: null,
  }
  if (field.exclusiveMinimum != null) notes.push(`Must be more than ${field.exclusiveMinimum}.`)
  if (field.exclusiveMaximum != null) notes.push(`Must be less than ${field.exclusiveMaximum}.`)
  if (field.multipleOf != null) notes.push(`Must be a multiple of ${field.multipleOf}.`)
  noteUnchecked(notes, schema, ['oneOf', 'anyOf'])
  field.default = readDefault<number>(field, schema)
  return field
}

/** In old drafts of JSON Schema the keyword is a boolean that changes what `minimum` or `maximum` means. */
function exclusiveBound(schema: Schema, notes: string[], name: string, bound: number | null): number | null {
  const value = own(schema, name)
  if (typeof value === 'boolean') return value ? bound : null
  return readNumber(schema, notes, { name })
}
