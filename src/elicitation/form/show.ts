import { jsonFault } from '../../base/json.ts'
import { makeVisible, truncate } from '../../base/text.ts'

/** A name or a value that somebody else wrote, fit to stand in a sentence: visible, quoted if it is a text, and short. */
export function show(value: unknown, lengthMax = 60): string {
  if (typeof value === 'string') return `"${makeVisible(truncate(value, lengthMax))}"`
  const fault = jsonFault(value, 8)
  if (fault === 'too deep') return 'a deeply nested value'
  if (fault === 'not JSON') return 'a value that is not JSON'
  return makeVisible(truncate(JSON.stringify(value), lengthMax))
}
