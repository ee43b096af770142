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

/** Where the lines of a text are. Found once: looking for a line break in a 5 MB line takes its time each time. */
export interface Lines {
  /** The line ending that the text uses, by its first one. */
  ending: '\n' | '\r\n'
  /** The start of the line in which an offset lies. */
  startOf(offset: number): number
  /** The end of that line, before its line break. */
  endOf(offset: number): number
  /** The blanks at the start of that line, as far as they stand before the offset. */
  indentation(offset: number): string
}

export function linesOf(text: string): Lines {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)

  /** The number of the line: the last one that starts at or before the offset. */
  function lineOf(offset: number): number {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }

  const startOf = (offset: number) => starts[lineOf(offset)] ?? 0
  return {
    ending: text[(starts[1] ?? 0) - 2] === '\r' ? '\r\n' : '\n',
    startOf,
    endOf(offset) {
      const next = starts[lineOf(offset) + 1]
      if (next === undefined) return text.length
      return text[next - 2] === '\r' ? next - 2 : next - 1
    },
    indentation(offset) {
      const start = startOf(offset)
      let end = start
      while (end < offset && (text[end] === ' ' || text[end] === '\t')) end++
      return text.slice(start, end)
    },
  }
}
