export type EmbeddedFault =
  /** A living process holds the data folder. */
  | 'IN_USE'
  /** No PostgreSQL for this platform, or one that cannot be run here. */
  | 'NO_BINARIES'
  | 'DISK_FULL'
  | 'READ_ONLY'
  | 'NOT_PERMITTED'
  | 'NOT_A_FOLDER'
  /** The database was made by another major version of PostgreSQL. */
  | 'INCOMPATIBLE'
  /** What the data folder remembers is not there any more. */
  | 'DATA_MISSING'
  | 'START_FAILED'

/** The embedded PostgreSQL cannot run. The message is for the person who started the server and says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
  readonly code: EmbeddedFault

  constructor(code: EmbeddedFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

export const wayOut = 'Or set DATABASE_URL to a PostgreSQL 15 or newer; then no embedded one is needed.'

const outputLinesShown = 12

const faultOfErrno = new Map<unknown, EmbeddedFault>([
  ['ENOSPC', 'DISK_FULL'],
  ['EDQUOT', 'DISK_FULL'],
  ['EROFS', 'READ_ONLY'],
  ['EACCES', 'NOT_PERMITTED'],
  ['EPERM', 'NOT_PERMITTED'],
  ['EEXIST', 'NOT_A_FOLDER'],
  ['ENOTDIR', 'NOT_A_FOLDER'],
])

const faultInOutput: [RegExp, EmbeddedFault][] = [
  [/No space left on device|Disk quota exceeded/, 'DISK_FULL'],
  [/Read-only file system/, 'READ_ONLY'],
  [/Permission denied|Operation not permitted/, 'NOT_PERMITTED'],
]

/** What a failure of the file system or of a signal means for the data folder; any other error is a defect and comes back as it is. */
export function explainError(error: unknown, dataDir: string): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const fault = faultOfErrno.get(error.code)
  return fault ? refusal(fault, dataDir, error.message, error) : error
}

/** What is worth reading of an output that may be long. */
export function lastLines(output: string): string {
  return output.trim().split('\n').slice(-outputLinesShown).join('\n')
}

/** What the last words of `initdb` or `postgres` mean. */
export function explainOutput(output: string, dataDir: string, doing: string): EmbeddedPostgresError {
  const fault = faultInOutput.find(([pattern]) => pattern.test(output))?.[1]
  if (fault) return refusal(fault, dataDir, output)
  return new EmbeddedPostgresError(
    'START_FAILED',
    `The embedded PostgreSQL of ${dataDir} did not ${doing}. It said:\n${output || '(nothing)'}\n${wayOut}`,
  )
}

function refusal(
  fault: EmbeddedFault,
  dataDir: string,
  detail: string,
  cause?: unknown,
): EmbeddedPostgresError {
  const elsewhere = `point HOLDPOINT_DATA_DIR to a folder on another disk. ${wayOut}\n${detail}`
  switch (fault) {
    case 'DISK_FULL':
      return new EmbeddedPostgresError(
        fault,
        `The disk of ${dataDir} is full. Free some space, or ${elsewhere}`,
        cause,
      )
    case 'READ_ONLY':
      return new EmbeddedPostgresError(
        fault,
        `The disk of ${dataDir} is read-only. Make it writable, or ${elsewhere}`,
        cause,
      )
    case 'NOT_A_FOLDER':
      return new EmbeddedPostgresError(
        fault,
        `${dataDir} is not a folder. Remove what is there, or ${elsewhere}`,
        cause,
      )
    default:
      return new EmbeddedPostgresError(
        fault,
        `This user may not do what the embedded PostgreSQL of ${dataDir} needs. Give the folder to the user who starts the server, or ${elsewhere}`,
        cause,
      )
  }
}
