import { type Logger, pino } from 'pino'
import { redact } from './redact.ts'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** A log whose every line went through the redactor, whatever somebody thought of writing. */
export function createLog(level: string, destination?: { write(line: string): void }): Logger {
  const options = { level, base: undefined, hooks: { streamWrite: redactLine }, serializers: { err: told } }
  return destination ? pino(options, destination) : pino(options)
}

/** What is worth reading of an error: libraries hang whole connections on theirs. */
function told(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  return {
    type: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    ...(cause === undefined ? {} : { cause: told(cause) }),
    stack: error.stack,
  }
}

function redactLine(line: string): string {
  return `${JSON.stringify(redact(JSON.parse(line)))}\n`
}
