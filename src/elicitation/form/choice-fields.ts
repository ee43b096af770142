import { isRecord, own } from '../../base/json.ts'
import type { BooleanField, JsonField, MultiSelectField, OptionValue, SelectField } from './field.ts'
import { jsonField } from './json-field.ts'
import { type Listed, listedOptions } from './options.ts'
import {
  type Described,
  hasShape,
  noteUnchecked,
  numberKeywords,
  readDefault,
  readNumber,
  type Schema,
  textKeywords,
  typeOf,
  withoutNull,
} from './schema.ts'

export function booleanField(described: Described, schema: Schema, listed: Listed | null): BooleanField {
  const { notes } = described
  const values = listed?.options.map((option) => option.value) ?? []
  const field: BooleanField = {
    kind: 'boolean',
    ...described,
    only: values.length === 1 ? values[0] === true : null,
    default: null,
  }
  if (field.only !== null) notes.push(`The server takes only ${field.only ? 'Yes' : 'No'}.`)
  noteUnchecked(notes, schema, [])
  field.default = readDefault<boolean>(field, schema)
  return field
}

export function selectField(described: Described, schema: Schema, listed: Listed): SelectField {
  const { notes } = described
  const field: SelectField = { kind: 'select', ...described, options: listed.options, default: null }
  notes.push(...listed.notes)
  if (listed.options.length === 0) {
    notes.push(
      field.required
        ? 'The server offers no option for this required field: only Decline and Dismiss are possible.'
        : 'The server offers no option for this field: it can only be left out.',
    )
  }
  noteUnchecked(notes, schema, [...textKeywords, ...numberKeywords])
  field.default = readDefault<OptionValue>(field, schema)
  return field
}

/** The field of an array: choices, free entries, or JSON when its items are neither options nor texts. */
export function listField(described: Described, schema: Schema): MultiSelectField | SelectField | JsonField {
  const given = own(schema, 'items') ?? true
  if (given !== true && !isRecord(given)) return jsonField(described, schema)
  const items = given === true ? {} : withoutNull(given)
  const type = typeOf(items)
  const listed = listedOptions(items, type)
  // A multi-select without options would take free entries, and here nothing at all can be entered.
  if (listed?.options.length === 0) return selectField(described, {}, listed)
  if (!listed && type !== 'string' && (type !== null || hasShape(items))) return jsonField(described, schema)

  const { notes } = described
  const field: MultiSelectField = {
    kind: 'multiSelect',
    ...described,
    options: listed?.options ?? [],
    minItems: readNumber(schema, notes, { name: 'minItems', whole: true }),
    maxItems: readNumber(schema, notes, { name: 'maxItems', whole: true }),
    uniqueItems: listed !== null || own(schema, 'uniqueItems') === true,
    default: null,
  }
  notes.push(...(listed?.notes ?? []))
  if (!listed && field.uniqueItems) notes.push('Each text once.')
  noteUnchecked(notes, schema, listKeywords)
  noteUnchecked(notes, items, [...textKeywords, ...numberKeywords])
  field.default = readDefault<OptionValue[]>(field, schema)
  return field
}

const listKeywords = ['contains', 'prefixItems', 'unevaluatedItems', 'enum', 'const', 'oneOf', 'anyOf']
