import { Textarea, TextInput } from '@mantine/core'
import type { JsonField, MultiSelectField, NumberField, TextField } from '../../elicitation/form/field.ts'
import type { ControlProps } from './field-control.tsx'
import classes from './fields.module.css'

type Typed = TextField | NumberField | MultiSelectField | JsonField

/** Everything that is typed: text, addresses, dates, numbers, one entry per line, JSON. */
export function TextControl({ field, entry, onEntry, frame }: ControlProps<Typed, string>) {
  const input = {
    ...framed(frame),
    value: entry,
    onChange: (event: { currentTarget: { value: string } }) => onEntry(event.currentTarget.value),
    dir: 'auto',
    // What a server asks for is no address book entry, and a secret must not be offered to it.
    autoComplete: 'off',
    spellCheck: false,
  } as const
  switch (field.kind) {
    case 'number':
      // type=number hides what it cannot read and changes its value under the mouse wheel.
      return <TextInput {...input} inputMode={field.integer ? wholeMode(field) : decimalMode(field)} />
    case 'multiSelect':
      return <Textarea {...input} autosize minRows={3} maxRows={10} />
    case 'json':
      return <Textarea {...input} dir="ltr" className={classes.json} autosize minRows={3} maxRows={12} />
    case 'text':
      return field.multiline ? (
        <Textarea {...input} spellCheck autosize minRows={3} maxRows={10} />
      ) : (
        <TextInput {...input} {...lineOf(field)} />
      )
  }
}

// Number pads have no minus sign on some phones.
function wholeMode({ minimum }: NumberField) {
  return minimum !== null && minimum >= 0 ? 'numeric' : 'text'
}

function decimalMode({ minimum }: NumberField) {
  return minimum !== null && minimum >= 0 ? 'decimal' : 'text'
}

function lineOf({ format }: TextField) {
  switch (format) {
    case 'EMAIL':
      // type=email would trim the text and accept what the server refuses; our own rule decides.
      return { inputMode: 'email', autoCapitalize: 'none' } as const
    case 'URI':
      return { inputMode: 'url', autoCapitalize: 'none' } as const
    case 'DATE':
      return { type: 'date' } as const
    default:
      return {}
  }
}

/** The frame as Mantine's inputs take it. Required is said in words; the browser's own checks stay out. */
export function framed({ required, ...frame }: ControlProps<Typed, string>['frame']) {
  return { ...frame, 'aria-required': required || undefined, withAsterisk: false }
}
