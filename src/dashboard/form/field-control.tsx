import { Text } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'
import type { FormField } from '../../elicitation/form/field.ts'
import { StrangerText } from '../text/stranger-text.tsx'
import { BooleanControl } from './boolean-control.tsx'
import { ChecksControl, RadiosControl, SelectControl } from './choice-controls.tsx'
import { type Entry, isFree } from './entry.ts'
import { hintsOf } from './hints.ts'
import { MomentControl } from './moment-control.tsx'
import type { MomentEntry } from './moment-entry.ts'
import { looksLikeSecret } from './secret.ts'
import { TextControl } from './text-controls.tsx'

// A list that searches as one types needs an overlay; few forms have thirty options.
const SearchControl = lazy(async () => ({ default: (await import('./search-control.tsx')).SearchControl }))

const radiosMax = 7
const plainListMax = 29

/** What every control is given. `frame` is the same everywhere: label, description, errors, all tied to the control. */
export type ControlProps<Field extends FormField, Value extends Entry> = {
  field: Field
  entry: Value
  onEntry: (entry: Entry) => void
  frame: Frame
}

export type Frame = {
  id: string
  label: ReactNode
  description: ReactNode
  error: ReactNode
  required: boolean
  onBlur: () => void
}

export function FieldControl(props: {
  /** Made from the field's position: names come from strangers and are no ids. */
  id: string
  field: FormField
  entry: Entry
  problems: readonly string[] | undefined
  onEntry: (entry: Entry) => void
  onBlur: () => void
}) {
  const { id, field, entry, problems, onEntry, onBlur } = props
  const frame: Frame = {
    id,
    label: <FieldLabel field={field} />,
    description: <FieldDescription field={field} entry={entry} />,
    error: problems?.length ? problems.join(' ') : null,
    required: field.required,
    onBlur,
  }
  switch (field.kind) {
    case 'text':
      return field.format === 'DATE_TIME' ? (
        <MomentControl field={field} entry={entry as MomentEntry} onEntry={onEntry} frame={frame} />
      ) : (
        <TextControl field={field} entry={entry as string} onEntry={onEntry} frame={frame} />
      )
    case 'number':
    case 'json':
      return <TextControl field={field} entry={entry as string} onEntry={onEntry} frame={frame} />
    case 'boolean':
      return <BooleanControl field={field} entry={entry as string} onEntry={onEntry} frame={frame} />
    case 'select':
      if (field.options.length <= radiosMax)
        return <RadiosControl field={field} entry={entry as string} onEntry={onEntry} frame={frame} />
      if (field.options.length <= plainListMax)
        return <SelectControl field={field} entry={entry as string} onEntry={onEntry} frame={frame} />
      break
    case 'multiSelect':
      if (isFree(field))
        return <TextControl field={field} entry={entry as string} onEntry={onEntry} frame={frame} />
      if (field.options.length <= plainListMax)
        return <ChecksControl field={field} entry={entry as string[]} onEntry={onEntry} frame={frame} />
  }
  return (
    <Suspense fallback={<Text size="sm">Loading the list…</Text>}>
      <SearchControl field={field} entry={entry as string | string[]} onEntry={onEntry} frame={frame} />
    </Suspense>
  )
}

function FieldLabel({ field }: { field: FormField }) {
  return (
    <>
      <bdi>{field.title}</bdi>
      {field.required && (
        <Text span size="sm" c="dimmed" fw={400}>
          {' (required)'}
        </Text>
      )}
    </>
  )
}

function FieldDescription({ field, entry }: { field: FormField; entry: Entry }) {
  const hints = hintsOf(field, entry)
  const secret = looksLikeSecret(field)
  if (!field.description && !secret && hints.length === 0 && field.notes.length === 0) return null
  return (
    <>
      {field.description && (
        <StrangerText component="span" inherit display="block">
          {field.description}
        </StrangerText>
      )}
      {hints.map((hint) => (
        <Text key={hint} span inherit display="block">
          {hint}
        </Text>
      ))}
      {field.notes.map((note) => (
        <StrangerText key={note} component="span" inherit display="block" fs="italic">
          {note}
        </StrangerText>
      ))}
      {secret && (
        <Text span inherit display="block" c="var(--hp-warning)" fw={500}>
          This looks like a secret. A server must not ask for one in a form; what you enter is shown and kept
          as it is.
        </Text>
      )}
    </>
  )
}
