import { own } from '../../base/json.ts'
import type { TextField, TextFormat } from './field.ts'
import { patternOf, patternSize } from './pattern.ts'
import { type Described, notChecked, noteUnchecked, readDefault, readNumber, type Schema } from './schema.ts'
import { show } from './show.ts'

/** What the patterns of one form may still cost while it is parsed: a stranger can send a hundred of them. */
export type PatternBudget = { size: number; steps: number }

const formats = new Map<unknown, TextFormat>([
  ['email', 'EMAIL'],
  ['uri', 'URI'],
  ['date', 'DATE'],
  ['date-time', 'DATE_TIME'],
])

export function textField(described: Described, schema: Schema, budget: PatternBudget): TextField {
  const { notes } = described
  const format = own(schema, 'format')
  const pattern = own(schema, 'pattern')
  const field: TextField = {
    kind: 'text',
    ...described,
    format: formats.get(format) ?? 'TEXT',
    multiline: false,
    minLength: readNumber(schema, notes, { name: 'minLength', whole: true }),
    maxLength: readNumber(schema, notes, { name: 'maxLength', whole: true }),
    pattern: typeof pattern === 'string' ? pattern : null,
    default: null,
  }
  if (format === 'password')
    notes.push('The server asks for a secret: what you enter is shown and kept as it is.')
  else if (format !== undefined && !formats.has(format)) notes.push(notChecked(`format ${show(format)}`))
  if (pattern !== undefined && field.pattern === null) {
    notes.push(`The server's pattern ${show(pattern)} makes no sense and was ignored.`)
  }
  noteUnchecked(notes, schema, ['oneOf', 'anyOf'])
  admitPattern(field, budget)
  field.default = textDefault(field, schema, budget)
  field.multiline =
    field.format === 'TEXT' && ((field.maxLength ?? 0) > 200 || field.default?.includes('\n') === true)
  return field
}

function admitPattern(field: TextField, budget: PatternBudget) {
  if (field.pattern === null) return
  const size = patternSize(field.pattern)
  field.patternChecked = size <= budget.size && patternOf(field) !== null
  if (field.patternChecked) budget.size -= size
  else field.notes.push(notChecked(`the pattern ${show(field.pattern, 200)}`))
}

function textDefault(field: TextField, schema: Schema, budget: PatternBudget): string | null {
  const value = own(schema, 'default')
  const steps = typeof value === 'string' ? (patternOf(field)?.steps(value) ?? 0) : 0
  if (steps > budget.steps) {
    field.notes.push(`The server's default ${show(value)} is too long to be checked and was ignored.`)
    return null
  }
  budget.steps -= steps
  return readDefault<string>(field, schema)
}
