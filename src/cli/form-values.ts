import { codePointLength } from '../base/text.ts'
import type { Form, FormField } from './documents.ts'
import { exitCodes, Problem } from './problem.ts'

/** The values of `NAME=VALUE` words by name; a name may be given more than once. */
export function parseSetWords(words: readonly string[]): Map<string, string[]> {
  const given = new Map<string, string[]>()
  for (const word of words) {
    const at = word.indexOf('=')
    if (at < 1) throw new Problem(`--set takes NAME=VALUE, not ${JSON.stringify(word)}.`, exitCodes.usage)
    const name = word.slice(0, at)
    given.set(name, [...(given.get(name) ?? []), word.slice(at + 1)])
  }
  return given
}

/**
 * The content of an answer, each value read as its field wants it. What does not fit is sent as the text that it is: the server
 * says what is wrong with it.
 */
export function contentOf(given: ReadonlyMap<string, string[]>, form: Form | null): Record<string, unknown> {
  // Object.fromEntries, so that a field by the name of __proto__ is one like any other.
  return Object.fromEntries([...given].map(([name, values]) => [name, parseValue(name, values, form)]))
}

function parseValue(name: string, values: string[], form: Form | null): unknown {
  const field = form?.fields.find((each) => each.name === name)
  if (field?.__typename === 'MultiSelectField') return values.map((value) => optionOf(field, value))
  if (values.length > 1)
    throw new Problem(`--set ${name} is given ${values.length} times, and takes one value.`, exitCodes.usage)
  const [text = ''] = values
  switch (field?.__typename) {
    case 'NumberField':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
    case 'BooleanField':
      return booleans.get(text.toLowerCase()) ?? text
    case 'SelectField':
      return optionOf(field, text)
    case 'JsonField':
      return jsonOf(text)
    default:
      return text
  }
}

const booleans = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
])

/** An option by its value, or else by its label where that names only one. */
function optionOf({ options = [] }: FormField, text: string): unknown {
  const byValue = options.find(
    ({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)) === text,
  )
  if (byValue) return byValue.value
  const byLabel = options.filter(({ label }) => label === text)
  return byLabel.length === 1 && codePointLength(text) > 0 ? byLabel[0]!.value : text
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
