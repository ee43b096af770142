export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a property of the record's own: names come from strangers, and `constructor` is one of them. */
export function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** PostgreSQL holds no U+0000 in text and jsonb, and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

export type JsonFault = 'not JSON' | 'too deep' | 'not storable'

/** Why a value cannot be kept as JSON, or null when it can. A scalar has depth 0, an empty list depth 1. */
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
  if (!Array.isArray(value) && !Object.keys(value).every(isStorable)) return 'not storable'
  for (const item of Object.values(value)) {
    const fault = jsonFault(item, depthMax - 1)
    if (fault) return fault
  }
  return null
}

/** The size as JSON in UTF-8, of a value in which `jsonFault` found nothing. */
export function jsonBytes(value: Json): number {
  return new TextEncoder().encode(JSON.stringify(value)).byteLength
}
