import type { Form, FormField } from '../../elicitation/form/field.ts'
import { Entries } from './entries.tsx'

const optionsShownMax = 7

/** The form for somebody who may read it but not fill it in. */
export function WhatIsAsked({ form }: { form: Form }) {
  if (form.fields.length === 0) return null
  return (
    <Entries
      label="What is asked for"
      lines={form.fields.map((field) => ({ term: field.title, text: askedText(field) }))}
    />
  )
}

function askedText(field: FormField): string {
  if ('options' in field && field.options.length > 0) {
    const labels = field.options.slice(0, optionsShownMax).map((option) => option.label)
    return field.options.length > labels.length
      ? `${labels.join(', ')}, … (${field.options.length} options)`
      : labels.join(', ')
  }
  return field.description ?? (field.required ? 'required' : 'optional')
}
