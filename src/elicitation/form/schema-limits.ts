import { isRecord, type Json, jsonBytes, jsonFault, own } from '../../base/json.ts'
import {
  schemaBytesMax,
  schemaDepthMax,
  schemaOptionsPerFieldMax,
  schemaPropertiesMax,
} from '../../base/limits.ts'
import { makeSchemaVisible } from '../../base/text.ts'
import { show } from './show.ts'

/** What a `requestedSchema` has too much of to be asked, as sentences; none when it may be. */
export function checkSchemaLimits(requestedSchema: unknown): string[] {
  if (!isRecord(requestedSchema)) return ['requestedSchema must be a JSON object.']
  switch (jsonFault(makeSchemaVisible(requestedSchema), schemaDepthMax)) {
    case 'too deep':
      return [
        `requestedSchema nests more than ${schemaDepthMax} levels deep. Send a flat object of simple properties.`,
      ]
    case 'not JSON':
      return ['requestedSchema must be JSON.']
    case 'not storable':
      return ['requestedSchema has U+0000 or half of a surrogate pair in a name or a value. Remove it.']
    case null:
  }
  const messages: string[] = []
  if (jsonBytes(requestedSchema as Json) > schemaBytesMax) {
    messages.push(`requestedSchema is larger than ${schemaBytesMax / 1024} KiB. Ask for less at once.`)
  }
  const properties = own(requestedSchema, 'properties')
  const required = own(requestedSchema, 'required')
  const names = new Set([
    ...(isRecord(properties) ? Object.keys(properties) : []),
    ...(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []),
  ])
  if (names.size > schemaPropertiesMax) {
    messages.push(
      `requestedSchema has ${names.size} properties; the most is ${schemaPropertiesMax}. Ask for less at once.`,
    )
  }
  for (const [name, property] of Object.entries(isRecord(properties) ? properties : {})) {
    const options = optionCount(property)
    if (options > schemaOptionsPerFieldMax) {
      messages.push(
        `The property ${show(name)} has ${options} options; the most is ${schemaOptionsPerFieldMax}.`,
      )
    }
  }
  return messages
}

function optionCount(property: unknown): number {
  if (!isRecord(property)) return 0
  const lists = ['enum', 'oneOf', 'anyOf'].map((keyword) => own(property, keyword))
  return Math.max(
    optionCount(own(property, 'items')),
    ...lists.map((list) => (Array.isArray(list) ? list.length : 0)),
  )
}
