import { jsonFault } from '../../base/json.ts'
import { schemaDepthMax } from '../../base/limits.ts'
import { makeVisible, truncate } from '../../base/text.ts'
import type { JsonField } from './field.ts'
import { type Described, readDefault, type Schema } from './schema.ts'

export function jsonField(described: Described, schema: Schema): JsonField {
  const field: JsonField = { kind: 'json', ...described, default: null }
  field.notes.push('The server asks for a shape that forms cannot show. Enter it as JSON.')
  const { title: _title, description: _description, default: _default, ...shape } = schema
  const fault = jsonFault(shape, schemaDepthMax)
  if (fault === null || fault === 'not storable') {
    field.notes.push(`Its schema: ${makeVisible(truncate(JSON.stringify(shape), 500))}`)
  }
  field.default = readDefault(field, schema)
  return field
}
