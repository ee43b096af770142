import type { Json } from '../../base/json.ts'

/**
 * A form: what a person is asked to fill in, made from the `requestedSchema` of an MCP server.
 * The fields come in the order of the schema.
 */
export type Form = {
  fields: FormField[]
  /** The name of the one required boolean that is the whole form: Accept itself answers it with true. */
  confirmation: string | null
  /** The schema declares no properties: besides the fields, any text, number, boolean or list of texts is taken. */
  anyFlatObject: boolean
  notes: string[]
}

export type FormField = TextField | NumberField | BooleanField | SelectField | MultiSelectField | JsonField

type Described = {
  name: string
  title: string
  description: string | null
  required: boolean
  /** What the person should know about this field: an ignored default, a pattern that is not checked. */
  notes: string[]
}

// Members with a question mark are rules that only the server's form carries; a client's copy may lack them,
// since the server checks every answer again.

export type TextFormat = 'TEXT' | 'EMAIL' | 'URI' | 'DATE' | 'DATE_TIME'

export type TextField = Described & {
  kind: 'text'
  format: TextFormat
  multiline: boolean
  /** Code points. */
  minLength: number | null
  maxLength: number | null
  /** As the server wrote it. It comes from a stranger: never give it to RegExp. */
  pattern: string | null
  /** False when the linear-time engine cannot take the pattern; a note says so. */
  patternChecked?: boolean
  default: string | null
}

export type NumberField = Described & {
  kind: 'number'
  integer: boolean
  minimum: number | null
  maximum: number | null
  exclusiveMinimum?: number | null
  exclusiveMaximum?: number | null
  multipleOf?: number | null
  default: number | null
}

export type BooleanField = Described & {
  kind: 'boolean'
  /** The one answer that the server allows, when it allows only one. */
  only?: boolean | null
  default: boolean | null
}

export type OptionValue = string | number | boolean

export type Option = { value: OptionValue; label: string }

export type SelectField = Described & {
  kind: 'select'
  /** Empty when the server offers nothing that can be chosen: the field cannot be answered. */
  options: Option[]
  default: OptionValue | null
}

export type MultiSelectField = Described & {
  kind: 'multiSelect'
  /** Empty for free entries: any list of texts. */
  options: Option[]
  minItems: number | null
  maxItems: number | null
  uniqueItems?: boolean
  default: OptionValue[] | null
}

/** A property that no control can show. Its answer is a JSON value. */
export type JsonField = Described & {
  kind: 'json'
  default: Json
}
