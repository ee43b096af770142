import { isRecord, own } from '../../base/json.ts'
import { patternSizePerFormMax, patternStepsForDefaultsMax } from '../../base/limits.ts'
import { makeVisible } from '../../base/text.ts'
import { booleanField, listField, selectField } from './choice-fields.ts'
import type { Form, FormField } from './field.ts'
import { jsonField } from './json-field.ts'
import { numberField } from './number-field.ts'
import { listedOptions } from './options.ts'
import {
  type Described,
  hasShape,
  noteUnchecked,
  readableText,
  type Schema,
  typeOf,
  withoutNull,
} from './schema.ts'
import { show } from './show.ts'
import { type PatternBudget, textField } from './text-field.ts'

/**
 * Makes the form of a `requestedSchema`: a flat object of primitive properties, as of MCP 2025-06-18 to 2026-07-28. Total:
 * what a form cannot show becomes a JSON field, what makes no sense is ignored with a note, and it never throws.
 */
export function parseForm(requestedSchema: unknown): Form {
  const schema = isRecord(requestedSchema) ? requestedSchema : {}
  const declared = own(schema, 'properties')
  const properties = isRecord(declared) ? declared : {}
  const required = requiredNames(schema)
  const budget = { size: patternSizePerFormMax, steps: patternStepsForDefaultsMax }

  const notes: string[] = []
  noteUnchecked(notes, schema, objectKeywords)
  const fields = Object.entries(properties).map(([name, property]) =>
    parseField(name, property, required.has(name), budget),
  )
  for (const name of required) {
    if (Object.hasOwn(properties, name)) continue
    notes.push(`The server requires ${show(name)} but did not describe it.`)
    fields.push(textField(describe(name, {}, true), {}, budget))
  }
  return {
    fields,
    confirmation: confirmationOf(fields),
    anyFlatObject: Object.keys(properties).length === 0 && own(schema, 'additionalProperties') !== false,
    notes,
  }
}

const objectKeywords = [
  ...['oneOf', 'anyOf', 'minProperties', 'maxProperties', 'propertyNames', 'patternProperties'],
  ...['dependentRequired', 'dependentSchemas', 'dependencies'],
]

function requiredNames(schema: Schema): Set<string> {
  const required = own(schema, 'required')
  return new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [])
}

function confirmationOf([field, ...others]: FormField[]): string | null {
  const confirms = field?.kind === 'boolean' && field.required && field.only !== false && others.length === 0
  return confirms ? field.name : null
}

function parseField(name: string, property: unknown, required: boolean, budget: PatternBudget): FormField {
  const schema = isRecord(property) ? withoutNull(property) : {}
  const described = describe(name, schema, required)
  const type = typeOf(schema)
  const listed = listedOptions(schema, type)
  if (type === 'boolean') return booleanField(described, schema, listed)
  if (listed) return selectField(described, schema, listed)
  switch (type) {
    case 'string':
      return textField(described, schema, budget)
    case 'number':
    case 'integer':
      return numberField(described, schema, type === 'integer')
    case 'array':
      return listField(described, schema)
    case null:
      return hasShape(schema) ? jsonField(described, schema) : textField(described, schema, budget)
    default:
      return jsonField(described, schema)
  }
}

function describe(name: string, schema: Schema, required: boolean): Described {
  return {
    name,
    title: readableText(own(schema, 'title')) ?? (makeVisible(name).trim() || '(no name)'),
    description: readableText(own(schema, 'description')),
    required,
    notes: [],
  }
}
