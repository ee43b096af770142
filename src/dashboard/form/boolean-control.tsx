import { Radio, Switch } from '@mantine/core'
import type { BooleanField } from '../../elicitation/form/field.ts'
import { ChoiceGroup } from './choice-controls.tsx'
import type { ControlProps } from './field-control.tsx'
import classes from './fields.module.css'

/** A switch where the server has a default, otherwise Yes and No with nothing chosen: false is an answer, not a blank. */
export function BooleanControl({ field, entry, onEntry, frame }: ControlProps<BooleanField, string>) {
  if (field.default !== null)
    return (
      <Switch
        id={frame.id}
        label={frame.label}
        description={frame.description}
        error={frame.error}
        checked={entry === 'yes'}
        onChange={(event) => onEntry(event.currentTarget.checked ? 'yes' : 'no')}
        onBlur={frame.onBlur}
      />
    )
  return (
    <ChoiceGroup entry={entry} onEntry={onEntry} frame={frame} inline>
      <Radio className={classes.option} value="yes" label="Yes" />
      <Radio className={classes.option} value="no" label="No" />
    </ChoiceGroup>
  )
}
