import { MultiSelect, Select } from '@mantine/core'
import '@mantine/core/styles/Popover.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/Pill.layer.css'
import '@mantine/core/styles/PillsInput.layer.css'
import type { MultiSelectField, SelectField } from '../../elicitation/form/field.ts'
import { optionLine } from './choice-controls.tsx'
import type { ControlProps } from './field-control.tsx'
import classes from './fields.module.css'
import { framed } from './text-controls.tsx'

const shownAtOnceMax = 100

/** A long list, found by typing. */
export function SearchControl(props: ControlProps<SelectField | MultiSelectField, string | string[]>) {
  const { field, entry, onEntry, frame } = props
  const list = {
    ...framed(frame),
    data: field.options.map((option, index) => ({ value: String(index), label: optionLine(option) })),
    searchable: true,
    limit: shownAtOnceMax,
    placeholder: `Search ${field.options.length} options`,
    nothingFoundMessage: 'No option has this in its name',
    // The list itself scrolls, and within its form: as a scroll area in a portal, screen readers would find it nowhere.
    withScrollArea: false,
    classNames: { options: classes.list },
    comboboxProps: { withinPortal: false },
  }
  return Array.isArray(entry) ? (
    <MultiSelect {...list} value={entry} onChange={onEntry} />
  ) : (
    <Select
      {...list}
      clearable={!field.required}
      value={entry === '' ? null : entry}
      onChange={(value) => onEntry(value ?? '')}
    />
  )
}
