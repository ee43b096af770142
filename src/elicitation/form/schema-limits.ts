import { isRecord, type Json, jsonBytes, jsonFault } from '../../base/json.ts'
import {
  schemaBytesMax,
  schemaDepthMax,
  schemaOptionsPerFieldMax,
  schemaPropertiesMax,
} from '../../base/limits.ts'
import { parseForm } from './parse.ts'
import { show } from './show.ts'

/** What a `requestedSchema` has too much of to be asked, as sentences; none when it may be. */
export function checkSchemaLimits(requestedSchema: unknown): string[] {
  if (!isRecord(requestedSchema)) return ['requestedSchema must be a JSON object.']
  switch (jsonFault(requestedSchema, schemaDepthMax)) {
    case 'too deep':
      return [
        `requestedSchema nests more than ${schemaDepthMax} levels deep. Send a flat object of simple properties.`,
      ]
    case 'not JSON':
      return ['requestedSchema must be JSON.']
    // Names and values stay exact, whatever their characters.
    case 'not storable':
    case null:
  }
  if (jsonBytes(requestedSchema as Json) > schemaBytesMax) {
    return [`requestedSchema is larger than ${schemaBytesMax / 1024} KiB. Ask for less at once.`]
  }
  const { fields } = parseForm(requestedSchema)
  const messages: string[] = []
  if (fields.length > schemaPropertiesMax) {
    messages.push(
      `requestedSchema has ${fields.length} properties; the most is ${schemaPropertiesMax}. Ask for less at once.`,
    )
  }
  for (const field of fields) {
    const options = 'options' in field ? field.options.length : 0
    if (options > schemaOptionsPerFieldMax) {
      messages.push(
        `The property ${show(field.name)} has ${options} options; the most is ${schemaOptionsPerFieldMax}.`,
      )
    }
  }
  return messages
}
