export interface CommandLine {
  /** The program itself. */
  program: string[]
  /** What follows it, up to a `--`. */
  options: string[]
  /** The `--` and what follows it. */
  operands: string[]
}

export function ownArguments([program, ...rest]: readonly string[]): CommandLine {
  const end = rest.indexOf('--')
  return {
    program: program === undefined ? [] : [program],
    options: end < 0 ? rest : rest.slice(0, end),
    operands: end < 0 ? [] : rest.slice(end),
  }
}

/**
 * Takes an option out of a command line, as `--name value` or `--name=value`, wherever and however often it stands there.
 * `many`: it takes every word that follows, up to the next option.
 */
export function takeOption(
  options: readonly string[],
  name: string,
  { many = false } = {},
): { values: string[]; rest: string[] } {
  const values: string[] = []
  const rest: string[] = []
  for (let at = 0; at < options.length; at++) {
    const word = options[at]!
    if (word.startsWith(`${name}=`)) values.push(word.slice(name.length + 1))
    else if (word !== name) rest.push(word)
    else {
      const first = options[at + 1]
      if (first === undefined) rest.push(word)
      else values.push(options[++at]!)
      while (many && at + 1 < options.length && !options[at + 1]!.startsWith('-')) values.push(options[++at]!)
    }
  }
  return { values, rest }
}

/** In single quotes nothing has a meaning to a shell but the quote itself. */
export function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
