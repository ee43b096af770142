import { codePointLength } from '../../base/text.ts'
import type { FormField, MultiSelectField, NumberField, TextField } from '../../elicitation/form/field.ts'
import { type Entry, isFree } from './entry.ts'

/** What the field's rules ask for, in small print before anything is wrong; lengths and choices are counted along. */
export function hintsOf(field: FormField, entry: Entry): string[] {
  switch (field.kind) {
    case 'text':
      return textHints(field, entry)
    case 'number':
      return rangeHint(field)
    case 'multiSelect':
      return choiceHint(field, entry)
    default:
      return []
  }
}

function textHints(field: TextField, entry: Entry): string[] {
  const hints: string[] = []
  const { minLength, maxLength, pattern } = field
  if ((minLength ?? 0) > 1 || maxLength !== null) {
    const range = rangeOf(minLength && minLength > 1 ? minLength : null, maxLength)
    const length = codePointLength(String(entry))
    hints.push(`${capitalised(range)} characters${length === 0 ? '' : `, now ${length}`}`)
  }
  if (pattern !== null && field.patternChecked !== false) hints.push(`Pattern: ${pattern}`)
  return hints
}

function rangeHint({ minimum, maximum, integer }: NumberField): string[] {
  if (minimum === null && maximum === null) return integer ? ['A whole number'] : []
  const range = rangeOf(minimum, maximum)
  return [integer ? `A whole number, ${range}` : capitalised(range)]
}

function choiceHint(field: MultiSelectField, entry: Entry): string[] {
  if (isFree(field)) {
    const range =
      field.minItems || field.maxItems !== null ? `, ${rangeOf(field.minItems || null, field.maxItems)}` : ''
    return [`One per line${range}`]
  }
  if (!field.minItems && field.maxItems === null) return []
  return [`Choose ${rangeOf(field.minItems || null, field.maxItems)}, ${(entry as string[]).length} chosen`]
}

function rangeOf(low: number | null, high: number | null): string {
  if (low !== null && high !== null) return low === high ? `exactly ${low}` : `${low} to ${high}`
  return low !== null ? `at least ${low}` : `at most ${high}`
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
