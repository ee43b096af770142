import { Text } from '@mantine/core'
import type { Form } from '../../elicitation/form/field.ts'
import { isEmpty, isUntouched, readEntry } from '../form/entry.ts'
import { valueText } from './answered-with.tsx'
import type { DraftInHand } from './draft.ts'
import { Entries } from './entries.tsx'

/** What somebody was still typing when the request ended without them: not sent, and not lost either. */
export function Entered({ form, draft }: { form: Form; draft: DraftInHand }) {
  const lines = form.fields.flatMap((field, index) => {
    const entry = draft.entryOf(index)
    if (isUntouched(field, entry) || isEmpty(entry)) return []
    const reading = readEntry(field, entry)
    const text = reading.ok && reading.value !== undefined ? valueText(reading.value) : String(entry)
    return [{ term: field.title, text }]
  })
  if (draft.note) lines.push({ term: 'Note', text: draft.note })
  if (lines.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={500}>
        What you had entered was not sent:
      </Text>
      <Entries label="What you had entered" lines={lines} />
    </div>
  )
}
