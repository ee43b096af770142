import { type Logger, pino } from 'pino'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** Paths that must never be written, whatever an object carries. */
const secretPaths = [
  'req.headers.authorization',
  'req.headers.cookie',
  'req.headers["x-api-key"]',
  'req.headers["holdpoint-withdraw"]',
]

export function createLog(level: string, destination?: { write(line: string): void }): Logger {
  const options = { level, base: undefined, redact: { paths: secretPaths, censor: '[redacted]' } }
  return destination ? pino(options, destination) : pino(options)
}
