import type { Json } from '../../base/json.ts'
import type { FormField, MultiSelectField, NumberField, TextField } from '../../elicitation/form/field.ts'
import { emptyMoment, type MomentEntry, momentEntryOf, timestampOf } from './moment-entry.ts'

/**
 * What stands in a field's control, as the person left it: the text typed, 'yes' or 'no', the position of the chosen
 * option (values may be numbers, or look alike), the positions of several. Nothing entered is ''.
 */
export type Entry = string | string[] | MomentEntry

/** The value to send (undefined: leave the field out), or why the entry is not even of the field's kind. */
export type Reading = { ok: true; value: Json | undefined } | { ok: false; message: string }

const nothing: Reading = { ok: true, value: undefined }

/** The server's default stands in the control from the start: sending it untouched sends the default. */
export function initialEntry(field: FormField): Entry {
  switch (field.kind) {
    case 'text':
      return field.format === 'DATE_TIME' ? momentEntryOf(field.default) : (field.default ?? '')
    case 'number':
      return field.default === null ? '' : String(field.default)
    case 'boolean':
      return field.default === null ? '' : field.default ? 'yes' : 'no'
    case 'select': {
      const index = field.options.findIndex((option) => option.value === field.default)
      return index < 0 ? '' : String(index)
    }
    case 'multiSelect':
      return isFree(field)
        ? (field.default ?? []).join('\n')
        : field.options.flatMap((option, index) =>
            field.default?.includes(option.value) ? [String(index)] : [],
          )
    case 'json':
      return field.default === null ? '' : JSON.stringify(field.default, null, 2)
  }
}

export function isFree(field: MultiSelectField): boolean {
  return field.options.length === 0
}

export function isUntouched(field: FormField, entry: Entry): boolean {
  return JSON.stringify(entry) === JSON.stringify(initialEntry(field))
}

export function isEmpty(entry: Entry): boolean {
  if (typeof entry === 'string') return entry.trim() === ''
  return Array.isArray(entry) ? entry.length === 0 : entry.local === ''
}

/** Reads an entry as the value of its field. Whether that value is allowed is for the form's own rules to say. */
export function readEntry(field: FormField, entry: Entry): Reading {
  switch (field.kind) {
    case 'text':
      return readText(field, entry)
    case 'number':
      return readNumber(field, String(entry))
    case 'boolean':
      return entry === '' ? nothing : { ok: true, value: entry === 'yes' }
    case 'select':
      return entry === '' ? nothing : { ok: true, value: field.options[Number(entry)]?.value }
    case 'multiSelect':
      return readList(field, entry)
    case 'json':
      return readJson(String(entry))
  }
}

function readText(field: TextField, entry: Entry): Reading {
  if (typeof entry === 'object' && !Array.isArray(entry)) {
    // Seconds and fractions that the control cannot hold survive as long as nobody touches it.
    if (field.default !== null && isUntouched(field, entry)) return { ok: true, value: field.default }
    return entry.local === emptyMoment.local ? nothing : { ok: true, value: timestampOf(entry) }
  }
  return entry === '' ? nothing : { ok: true, value: String(entry) }
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

function readNumber(field: NumberField, entry: string): Reading {
  const text = entry.trim()
  if (text === '') return nothing
  if (decimal.test(text)) return { ok: true, value: Number(text) }
  if (/^[+-]?\d+(?:,\d+)+$/.test(text)) {
    const example = field.integer ? '1200' : '12.5'
    return { ok: false, message: `Enter a number without commas, such as ${example}.` }
  }
  return { ok: false, message: 'Enter a number.' }
}

function readList(field: MultiSelectField, entry: Entry): Reading {
  const values = isFree(field)
    ? String(entry)
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '')
    : field.options
        .filter((_, index) => (entry as string[]).includes(String(index)))
        .map((option) => option.value)
  if (values.length > 0 || field.required) return { ok: true, value: values }
  // Taking every tick off a default is an answer of its own: leaving the field out could bring the default back.
  return field.default !== null && !field.minItems ? { ok: true, value: [] } : nothing
}

function readJson(entry: string): Reading {
  if (entry.trim() === '') return nothing
  try {
    return { ok: true, value: JSON.parse(entry) as Json }
  } catch {
    return {
      ok: false,
      message: 'This is not JSON yet. Texts and names need double quotes; no comma after the last item.',
    }
  }
}
