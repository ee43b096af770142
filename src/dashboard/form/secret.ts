import type { FormField } from '../../elicitation/form/field.ts'

const secretWords =
  /pass ?(?:word|wd|phrase|code)|secret|token\b|credential|(?:api|access|private|ssh|signing) ?key|(?:card|account) ?(?:number|no)\b|credit ?card|\bcv[vc]\b|\bpin\b|\botp\b|\biban\b/i

/** Whether a field looks as if it asked for a secret, which MCP forbids servers to do in a form. */
export function looksLikeSecret(field: FormField): boolean {
  if (field.kind !== 'text' && field.kind !== 'json') return false
  const words = (text: string) => text.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ')
  return secretWords.test(words(field.name)) || secretWords.test(words(field.title))
}
