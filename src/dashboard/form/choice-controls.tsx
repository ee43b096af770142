import { Button, Checkbox, NativeSelect, Radio, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { MultiSelectField, Option, SelectField } from '../../elicitation/form/field.ts'
import type { Entry } from './entry.ts'
import type { ControlProps, Frame } from './field-control.tsx'
import classes from './fields.module.css'
import { framed } from './text-controls.tsx'

/** Radios that can be taken back where the field may be left out. */
export function ChoiceGroup(props: {
  entry: string
  onEntry: (entry: Entry) => void
  frame: Frame
  inline?: boolean
  children: ReactNode
}) {
  const { entry, onEntry, frame, inline, children } = props
  const { id, label, description, error, required, onBlur } = frame
  return (
    <Radio.Group
      id={id}
      label={label}
      description={description}
      error={error}
      value={entry}
      onChange={onEntry}
      onBlur={onBlur}
    >
      <div className={classes.options} data-inline={inline || undefined}>
        {children}
        {!required && entry !== '' && (
          <Button size="compact-xs" variant="subtle" color="gray" onClick={() => onEntry('')} w="max-content">
            Leave out
          </Button>
        )}
      </div>
    </Radio.Group>
  )
}

export function RadiosControl({ field, entry, onEntry, frame }: ControlProps<SelectField, string>) {
  return (
    <ChoiceGroup entry={entry} onEntry={onEntry} frame={frame}>
      {field.options.map((option, index) => (
        <Radio
          key={JSON.stringify(option.value)}
          className={classes.option}
          value={String(index)}
          {...optionText(option)}
        />
      ))}
      {field.options.length === 0 && (
        <Text size="sm" c="dimmed">
          Nothing to choose from.
        </Text>
      )}
    </ChoiceGroup>
  )
}

/** The browser's own list: the best one there is on a phone. */
export function SelectControl({ field, entry, onEntry, frame }: ControlProps<SelectField, string>) {
  return (
    <NativeSelect {...framed(frame)} value={entry} onChange={(event) => onEntry(event.currentTarget.value)}>
      <option value="">{field.required ? 'Choose one…' : 'Leave out'}</option>
      {field.options.map((option, index) => (
        <option key={JSON.stringify(option.value)} value={String(index)}>
          {optionLine(option)}
        </option>
      ))}
    </NativeSelect>
  )
}

export function ChecksControl({ field, entry, onEntry, frame }: ControlProps<MultiSelectField, string[]>) {
  const { id, label, description, error, onBlur } = frame
  return (
    <Checkbox.Group
      id={id}
      label={label}
      description={description}
      error={error}
      value={entry}
      onChange={onEntry}
      onBlur={onBlur}
    >
      <div className={classes.options}>
        {field.options.map((option, index) => (
          <Checkbox
            key={JSON.stringify(option.value)}
            className={classes.option}
            value={String(index)}
            {...optionText(option)}
          />
        ))}
      </div>
    </Checkbox.Group>
  )
}

// The value is what the server gets; where the label says something else, both are shown.
function optionText({ label, value }: Option) {
  const differs = typeof value !== 'boolean' && label !== String(value)
  return {
    label: <bdi>{label}</bdi>,
    description: differs ? <span className={classes.value}>{String(value)}</span> : undefined,
  }
}

export function optionLine({ label, value }: Option): string {
  return typeof value === 'boolean' || label === String(value) ? label : `${label} (${value})`
}
