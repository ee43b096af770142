import { RE2JS } from 're2js'
import { patternLengthMax, patternSizeMax } from '../../base/limits.ts'
import type { TextField } from './field.ts'

/** A pattern that can be searched for in time linear in the text. */
export type Pattern = {
  /** Instructions times characters: an upper bound of the work of `test`. */
  steps(text: string): number
  /** Whether the pattern occurs anywhere in the text, as in JSON Schema. */
  test(text: string): boolean
}

const compiledPatterns = new WeakMap<TextField, Pattern | null>()

/** The pattern that answers of this field are checked against, compiled once for each form. */
export function patternOf(field: TextField): Pattern | null {
  if (field.pattern === null || field.patternChecked === false) return null
  let pattern = compiledPatterns.get(field)
  if (pattern === undefined) {
    pattern = compilePattern(field.pattern)
    compiledPatterns.set(field, pattern)
  }
  return pattern
}

/**
 * Compiles a stranger's pattern, or gives null when it cannot be run in linear time (look-around, back-references),
 * is broken, or would be too large.
 */
export function compilePattern(source: string): Pattern | null {
  if (source.length > patternLengthMax || patternSize(source) > patternSizeMax) return null
  const syntax = toRe2(source)
  if (syntax === null) return null
  try {
    const compiled = RE2JS.compile(syntax)
    const instructions = compiled.programSize()
    return {
      steps: (text) => instructions * text.length,
      test: (text) => compiled.test(text),
    }
  } catch {
    // Whatever the engine's reason is, the outcome is the same: the pattern is not enforced, and a note says so.
    return null
  }
}

/**
 * How large a pattern gets, estimated without compiling it: a counted repeat is unrolled, so that forty characters can
 * become a hundred thousand instructions. Repeats of single atoms add up, repeats of groups multiply. The program has at
 * most three times as many instructions; what only looks like a repeat makes the estimate higher, never lower.
 */
export function patternSize(source: string): number {
  let atoms = source.length
  let copies = 1
  for (const [, group, low, high] of source.matchAll(/(\)?)\{(\d+)(?:,(\d*))?\}/g)) {
    const count = Math.max(Number(low), Number(high ?? 0), 1)
    if (group) copies *= count
    else atoms += count
  }
  // A Unicode class has hundreds of ranges, and each copy of it costs accordingly.
  const weight = /\\p/i.test(source) ? 10 : 1
  return atoms * copies * weight
}

/**
 * JSON Schema says ECMAScript with Unicode, and that is translated; servers written in other languages send patterns of
 * theirs, and what RE2 reads as it is, is taken as it is. `\s` is ASCII in RE2: it knows fewer spaces than ECMAScript.
 */
function toRe2(source: string): string | null {
  if (!isEcmaScript(source)) return source
  // The translation would read a back-reference by name as letters.
  return source.includes('\\k') ? null : RE2JS.translateRegExp(source)
}

// The constructor only reads the syntax; what is dangerous about a pattern is to run it.
function isEcmaScript(source: string): boolean {
  try {
    new RegExp(source, 'u')
    return true
  } catch {
    return false
  }
}
