import { isRecord, type Json } from '../../base/json.ts'
import type { OutcomeFragment } from '../generated/graphql.ts'
import { Entries } from './entries.tsx'

/** The content of an answer, field by field, and the note beside it. */
export function AnsweredWith({ outcome }: { outcome: Pick<OutcomeFragment, 'content' | 'note' | 'form'> }) {
  const { content, note, form } = outcome
  const titles = new Map(form?.fields.map((field) => [field.name, field.title]))
  const lines = Object.entries(isRecord(content) ? (content as Record<string, Json>) : {}).map(
    ([name, value]) => ({
      term: titles.get(name) ?? name,
      text: valueText(value),
    }),
  )
  if (note) lines.push({ term: 'Note', text: note })
  return lines.length > 0 ? <Entries label="The answer" lines={lines} /> : null
}

export function valueText(value: Json): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'string') return value === '' ? '(empty)' : value
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) {
    return value.length > 0 ? value.join(', ') : '(none)'
  }
  return typeof value === 'number' ? String(value) : JSON.stringify(value, null, 2)
}
