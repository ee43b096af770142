import { GraphQLError, Kind, type ValueNode, valueFromASTUntyped } from 'graphql'
import { jsonFault } from '../base/json.ts'
import { parseTimestamp } from '../elicitation/deadline.ts'
import { builder } from './builder.ts'

const jsonDepthMax = 64
const cursorMax = 2n ** 63n - 1n

builder.scalarType('DateTime', {
  description: 'A moment in ISO 8601, in UTC: 2026-12-01T10:00:00.000Z.',
  serialize: (date) => date.toISOString(),
  parseValue(value) {
    const date = parseTimestamp(value)
    if (!date) throw new GraphQLError('Write a moment in ISO 8601, such as 2026-12-01T10:00:00Z.')
    return date
  },
})

function parseJson(value: unknown): unknown {
  const fault = jsonFault(value, jsonDepthMax)
  if (fault === 'too deep') throw new GraphQLError(`JSON may be nested ${jsonDepthMax} levels deep at most.`)
  if (fault === 'not JSON') throw new GraphQLError('This is not JSON.')
  // Characters that no text column holds are for whoever keeps the value: a json column takes them, escaped.
  return value
}

builder.scalarType('JSON', {
  description: 'Any JSON value: an object, a list, a text, a number, true, false or null.',
  serialize: (value) => value,
  parseValue: parseJson,
  parseLiteral(node: ValueNode, variables) {
    const value = valueFromASTUntyped(node, variables)
    // Validation looks at a literal before there are variables; what is in it then is nobody's value yet.
    if (!variables) return value
    // A variable that was not given is left out, as everywhere in GraphQL.
    return parseJson(JSON.parse(JSON.stringify(value) ?? 'null'))
  },
})

function parseCursor(value: unknown): bigint {
  const text = typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : ''
  const cursor = /^\d{1,19}$/.test(text) ? BigInt(text) : null
  if (cursor === null || cursor > cursorMax)
    throw new GraphQLError(
      'This is no position in the timeline. Take one from `Query.eventCursor` or from an event.',
    )
  return cursor
}

builder.scalarType('EventCursor', {
  description:
    'A position in the timeline. Positions grow with time; treat them as opaque text, except that `after` takes any of them.',
  serialize: (cursor) => cursor.toString(),
  parseValue: parseCursor,
  parseLiteral: (node) =>
    parseCursor(node.kind === Kind.STRING || node.kind === Kind.INT ? node.value : undefined),
})
