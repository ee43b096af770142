import type { Json } from '../../base/json.ts'
import type { Form, FormField, Option, OptionValue } from '../../elicitation/form/field.ts'
import type { RequestFragment } from '../generated/graphql.ts'

type GivenForm = NonNullable<RequestFragment['form']>
type GivenField = GivenForm['fields'][number]

const noFields: Form = { fields: [], confirmation: null, anyFlatObject: true, notes: [] }

/** The form as the domain knows it, so that the page checks answers by the very rules of the server. */
export function formOfRequest(form: GivenForm | null): Form {
  return form ? { ...form, fields: form.fields.map(fieldOf) } : noFields
}

function fieldOf(field: GivenField): FormField {
  switch (field.__typename) {
    case 'TextField':
      return { ...field, kind: 'text', default: field.textDefault }
    case 'NumberField':
      return { ...field, kind: 'number', default: field.numberDefault }
    case 'BooleanField':
      return { ...field, kind: 'boolean', default: field.booleanDefault }
    case 'SelectField':
      return {
        ...field,
        kind: 'select',
        options: options(field),
        default: field.selectDefault as OptionValue | null,
      }
    case 'MultiSelectField':
      return {
        ...field,
        kind: 'multiSelect',
        options: options(field),
        // Over GraphQL it is not said whether free entries may repeat; options never may.
        uniqueItems: field.options.length > 0,
        default: field.multiDefault as OptionValue[] | null,
      }
    case 'JsonField':
      return { ...field, kind: 'json', default: field.jsonDefault as Json }
  }
}

// The schema says JSON because GraphQL has no "text, number or boolean"; the server's form holds nothing else.
function options(field: { options: readonly { value: unknown; label: string }[] }): Option[] {
  return field.options as Option[]
}
