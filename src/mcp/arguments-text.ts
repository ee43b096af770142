/**
 * Arguments as a person reads them: a name in the first column and its value beside or below it. Every further line of
 * a value is indented, so that no value can pass for another argument.
 */
export function describeArguments(input: Record<string, unknown>): string {
  return Object.entries(input)
    .map(([name, value]) => {
      const shownName = /^[\w.-]+$/.test(name) ? name : JSON.stringify(name)
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
      return /[\r\n]/.test(text) ? `${shownName}:\n${indented(text)}` : `${shownName}: ${text}`
    })
    .join('\n')
}

function indented(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}
