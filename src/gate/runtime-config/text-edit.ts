/** Replaces the characters from `start` up to `end` (offsets in UTF-16 units of the original text). */
export interface Edit {
  start: number
  end: number
  text: string
}

/** Applies edits of one original; those at the same place in the order in which they were made. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const parts: string[] = []
  let done = 0
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    if (edit.start > done) parts.push(text.slice(done, edit.start))
    parts.push(edit.text)
    done = Math.max(done, edit.end)
  }
  parts.push(text.slice(done))
  return parts.join('')
}

/** The line ending that a text uses, by its first one. */
export function lineEnding(text: string): string {
  const at = text.indexOf('\n')
  return at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n'
}

/** The blanks at the start of the line in which an offset lies, as far as they stand before it. */
export function indentation(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  let end = start
  while (end < offset && (text[end] === ' ' || text[end] === '\t')) end++
  return text.slice(start, end)
}
