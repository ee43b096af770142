import type {
  BooleanField,
  Form,
  FormField,
  JsonField,
  MultiSelectField,
  NumberField,
  Option,
  SelectField,
  TextField,
} from '../../elicitation/form/field.ts'
import { builder } from '../builder.ts'
import { TextFormat } from '../enums.ts'

const intMax = 2 ** 31 - 1

/** A bound as an Int of GraphQL: where a stranger's is larger, no answer can reach it anyway. */
const asInt = (bound: number | null) => (bound === null ? null : Math.min(bound, intMax))

const FormFieldRef = builder.interfaceRef<FormField>('FormField').implement({
  description:
    'One thing that a form asks for. Names, titles and descriptions come from the MCP server: text, never markup.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its key in the content of an answer.' }),
    title: t.exposeString('title', { description: 'What to call it.' }),
    description: t.exposeString('description', { nullable: true }),
    required: t.exposeBoolean('required'),
    notes: t.exposeStringList('notes', {
      description: 'What the person should know: an ignored default, a rule that is not checked here.',
    }),
  }),
  resolveType: ({ kind }) =>
    ({
      text: 'TextField',
      number: 'NumberField',
      boolean: 'BooleanField',
      select: 'SelectField',
      multiSelect: 'MultiSelectField',
      json: 'JsonField',
    })[kind],
})

const SelectOption = builder.objectRef<Option>('SelectOption').implement({
  fields: (t) => ({
    value: t.expose('value', { type: 'JSON', description: 'What goes into the content, exactly.' }),
    label: t.exposeString('label', { description: 'What to show.' }),
  }),
})

builder.objectRef<TextField>('TextField').implement({
  interfaces: [FormFieldRef],
  fields: (t) => ({
    format: t.expose('format', { type: TextFormat }),
    multiline: t.exposeBoolean('multiline'),
    minLength: t.int({
      resolve: ({ minLength }) => asInt(minLength),
      nullable: true,
      description: 'In code points.',
    }),
    maxLength: t.int({
      resolve: ({ maxLength }) => asInt(maxLength),
      nullable: true,
      description: 'In code points.',
    }),
    pattern: t.exposeString('pattern', {
      nullable: true,
      description:
        'As the MCP server wrote it. It comes from a stranger: do not run it, the server checks it.',
    }),
    default: t.exposeString('default', { nullable: true }),
  }),
})

builder.objectRef<NumberField>('NumberField').implement({
  interfaces: [FormFieldRef],
  fields: (t) => ({
    integer: t.exposeBoolean('integer'),
    minimum: t.exposeFloat('minimum', { nullable: true }),
    maximum: t.exposeFloat('maximum', { nullable: true }),
    default: t.exposeFloat('default', { nullable: true }),
  }),
})

builder.objectRef<BooleanField>('BooleanField').implement({
  interfaces: [FormFieldRef],
  fields: (t) => ({ default: t.exposeBoolean('default', { nullable: true }) }),
})

builder.objectRef<SelectField>('SelectField').implement({
  interfaces: [FormFieldRef],
  fields: (t) => ({
    options: t.expose('options', { type: [SelectOption] }),
    default: t.expose('default', { type: 'JSON', nullable: true }),
  }),
})

builder.objectRef<MultiSelectField>('MultiSelectField').implement({
  description: 'Any of the options; without options any list of texts.',
  interfaces: [FormFieldRef],
  fields: (t) => ({
    options: t.expose('options', { type: [SelectOption] }),
    minItems: t.int({ resolve: ({ minItems }) => asInt(minItems), nullable: true }),
    maxItems: t.int({ resolve: ({ maxItems }) => asInt(maxItems), nullable: true }),
    default: t.expose('default', { type: ['JSON'], nullable: true }),
  }),
})

builder.objectRef<JsonField>('JsonField').implement({
  description: 'Something that no control can show. Its answer is the JSON value itself.',
  interfaces: [FormFieldRef],
  fields: (t) => ({ default: t.expose('default', { type: 'JSON', nullable: true }) }),
})

export const FormRef = builder.objectRef<Form>('Form').implement({
  description: 'What a person is asked to fill in.',
  fields: (t) => ({
    fields: t.expose('fields', { type: [FormFieldRef], description: 'In the order of the schema.' }),
    confirmation: t.exposeString('confirmation', {
      nullable: true,
      description:
        'The name of the one boolean that is the whole form: show no checkbox, accepting answers it with true.',
    }),
    anyFlatObject: t.exposeBoolean('anyFlatObject', {
      description: 'Besides the fields, any text, number, boolean or list of texts is taken.',
    }),
    notes: t.exposeStringList('notes', {
      description: 'What is required of the whole and not checked here.',
    }),
  }),
})
