export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a property of the record's own: names come from strangers, and `constructor` is one of them. */
export function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** Half of a surrogate pair is no text, and PostgreSQL can read U+0000 neither as text nor out of json. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

export type JsonFault = 'not JSON' | 'too deep' | 'not storable'

/**
 * Why a value is not JSON of at most this depth that holds text alone, or null when it is. A scalar has depth 0, an empty
 * list depth 1. `not storable` is found last: the value is JSON and shallow enough.
 */
export function jsonFault(value: unknown, depthMax: number): JsonFault | null {
  switch (typeof value) {
    case 'string':
      return isStorable(value) ? null : 'not storable'
    case 'number':
      return Number.isFinite(value) ? null : 'not JSON'
    case 'boolean':
      return null
    case 'object':
      break
    default:
      return 'not JSON'
  }
  if (value === null) return null
  if (depthMax === 0) return 'too deep'
  let storable = Array.isArray(value) || Object.keys(value).every(isStorable)
  for (const item of Object.values(value)) {
    const fault = jsonFault(item, depthMax - 1)
    if (fault === 'not storable') storable = false
    else if (fault) return fault
  }
  return storable ? null : 'not storable'
}

/** The size as JSON in UTF-8, of a value in which `jsonFault` found nothing. */
export function jsonBytes(value: Json): number {
  return new TextEncoder().encode(JSON.stringify(value)).byteLength
}
