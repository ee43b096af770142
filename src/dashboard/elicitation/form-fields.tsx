import { Alert, Button, Text } from '@mantine/core'
import { useState } from 'react'
import type { Form } from '../../elicitation/form/field.ts'
import type { Problems } from '../form/content.ts'
import { FieldControl } from '../form/field-control.tsx'
import classes from '../form/fields.module.css'
import { StrangerText } from '../text/stranger-text.tsx'
import type { DraftInHand } from './draft.ts'

const shownAtFirstMax = 20

export function FormFields(props: {
  idPrefix: string
  form: Form
  draft: DraftInHand
  problems: Problems
  onEntry: (index: number) => void
  onBlur: (index: number) => void
}) {
  const { idPrefix, form, draft, problems, onEntry, onBlur } = props
  const [all, setAll] = useState(false)
  if (form.confirmation !== null) return <Confirmation form={form} />
  if (form.fields.length === 0 && form.notes.length === 0) return null

  const shown = form.fields
    .map((field, index) => ({ field, index }))
    .filter(({ field, index }) => all || index < shownAtFirstMax || field.required || problems.has(index))
  const hidden = form.fields.length - shown.length
  return (
    <div className={classes.fields}>
      {shown.map(({ field, index }) => (
        <FieldControl
          key={index}
          id={`${idPrefix}-field-${index}`}
          field={field}
          entry={draft.entryOf(index)}
          problems={problems.get(index)}
          onEntry={(entry) => {
            draft.enter(index, entry)
            onEntry(index)
          }}
          onBlur={() => onBlur(index)}
        />
      ))}
      {hidden > 0 && (
        <Button variant="default" onClick={() => setAll(true)}>
          Show {hidden} more optional fields
        </Button>
      )}
      {form.notes.length > 0 && (
        <Alert color="gray" variant="light" p="xs">
          {form.notes.map((note) => (
            <StrangerText key={note} size="sm">
              {note}
            </StrangerText>
          ))}
        </Alert>
      )}
    </div>
  )
}

/** No box to tick: accepting is the yes, and the words of the one field say to what. */
function Confirmation({ form }: { form: Form }) {
  const field = form.fields[0]
  if (!field) return null
  return (
    <div>
      <StrangerText fw={500}>{field.title}</StrangerText>
      {field.description && (
        <StrangerText size="sm" c="dimmed">
          {field.description}
        </StrangerText>
      )}
      {field.notes.map((note) => (
        <StrangerText key={note} size="sm" c="dimmed" fs="italic">
          {note}
        </StrangerText>
      ))}
      <Text size="sm" c="dimmed">
        Accept answers yes.
      </Text>
    </div>
  )
}
