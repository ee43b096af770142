import { type Logger, pino } from 'pino'
import { redact } from './redact.ts'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** A log whose every line went through the redactor, whatever somebody thought of writing. */
export function createLog(level: string, destination?: { write(line: string): void }): Logger {
  const options = { level, base: undefined, hooks: { streamWrite: redactLine } }
  return destination ? pino(options, destination) : pino(options)
}

function redactLine(line: string): string {
  return `${JSON.stringify(redact(JSON.parse(line)))}\n`
}
