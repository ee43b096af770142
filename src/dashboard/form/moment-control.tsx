import { Group, Input, NativeSelect, TextInput } from '@mantine/core'
import type { TextField } from '../../elicitation/form/field.ts'
import type { ControlProps } from './field-control.tsx'
import { type MomentEntry, offsetHere, offsets, timestampOf } from './moment-entry.ts'

/** A date, a time and a zone; together, and only together, they are a moment. */
export function MomentControl({ entry, onEntry, frame }: ControlProps<TextField, MomentEntry>) {
  const { id, label, description, error, required, onBlur } = frame
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone
  const zones =
    offsets.includes(entry.zone) || entry.zone === 'here' || entry.zone === 'Z'
      ? offsets
      : [entry.zone, ...offsets]
  const describedBy =
    [description ? `${id}-description` : '', error ? `${id}-error` : ''].join(' ').trim() || undefined
  return (
    <Input.Wrapper
      id={id}
      label={label}
      description={description}
      error={error}
      descriptionProps={{ id: `${id}-description` }}
      errorProps={{ id: `${id}-error` }}
      withAsterisk={false}
    >
      <Group gap="xs" align="flex-start" mt={4}>
        <TextInput
          id={id}
          type="datetime-local"
          step={1}
          aria-required={required || undefined}
          aria-describedby={describedBy}
          error={Boolean(error)}
          value={entry.local}
          onChange={(event) => onEntry({ ...entry, local: event.currentTarget.value })}
          onBlur={onBlur}
          flex="1 1 12rem"
        />
        <NativeSelect
          aria-label="Time zone"
          value={entry.zone}
          onChange={(event) => onEntry({ ...entry, zone: event.currentTarget.value })}
          flex="1 1 10rem"
        >
          <option value="here">
            {here} ({offsetHere(entry.local)})
          </option>
          <option value="Z">UTC</option>
          {zones.map((offset) => (
            <option key={offset} value={offset}>
              UTC {offset}
            </option>
          ))}
        </NativeSelect>
      </Group>
      {entry.local && <Input.Description mt={4}>Sent as {timestampOf(entry)}</Input.Description>}
    </Input.Wrapper>
  )
}
