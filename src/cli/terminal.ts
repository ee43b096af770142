import { makeVisible } from '../base/text.ts'
import type { Variables } from './connection.ts'

/** Where a command was given, and where it answers. */
export interface Terminal {
  environment: Variables
  cwd: string
  /** A line of the result. */
  say(line: string): void
  /** A line for the person, beside the result. */
  note(line: string): void
}

export function createTerminal(environment: Variables, cwd: string): Terminal {
  return {
    environment,
    cwd,
    say: (line) => process.stdout.write(`${line}\n`),
    note: (line) => process.stderr.write(`${line}\n`),
  }
}

/** For scripts: a value as JSON. */
export function sayJson(terminal: Terminal, value: unknown): void {
  terminal.say(JSON.stringify(value, null, 2))
}

/**
 * What a stranger wrote, behind a bar on every line so that none of it can pass for a line of ours, and with whatever could
 * move the cursor or hide text shown as its code.
 */
export function quotedLines(text: string, { linesMax = Number.POSITIVE_INFINITY } = {}): string[] {
  const lines = makeVisible(text).split('\n')
  const shown = lines.slice(0, linesMax).map((line) => `  │ ${line}`)
  return lines.length > linesMax ? [...shown, `  │ … ${lines.length - linesMax} more lines`] : shown
}

/** What a stranger wrote, on one line. */
export function quotedLine(text: string): string {
  return makeVisible(text).replace(/\s+/g, ' ')
}

/** How long from now, in the unit that says it best: `in 59 min`, `4 s ago`. */
export function fromNow(moment: string, now = Date.now()): string {
  const ms = Date.parse(moment) - now
  const seconds = Math.round(Math.abs(ms) / 1000)
  const text =
    seconds < 90
      ? `${seconds} s`
      : seconds < 90 * 60
        ? `${Math.round(seconds / 60)} min`
        : seconds < 48 * 3600
          ? `${Math.round(seconds / 3600)} h`
          : `${Math.round(seconds / 86_400)} days`
  return ms >= 0 ? `in ${text}` : `${text} ago`
}

/** Columns as wide as what is in them. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}
