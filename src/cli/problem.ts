/** What the commands exit with. `run` exits with the code of the command that it ran, once that has started. */
export const exitCodes = {
  done: 0,
  failed: 1,
  // Not 2, as shells have it: a hook of Claude Code that ends with 2 refuses what it was asked about.
  usage: 64,
  unreachable: 69,
  notAllowed: 77,
  notExecutable: 126,
  notFound: 127,
} as const

/** Something a person has to be told: what is wrong, and what to do next. */
export class Problem extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number = exitCodes.failed, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.exitCode = exitCode
  }
}

/** The server cannot be asked at present; the same request may well succeed later. */
export class ServerAway extends Problem {
  constructor(message: string, options?: ErrorOptions) {
    super(message, exitCodes.unreachable, options)
  }
}

/** The server answered, and refused. */
export class Refused extends Problem {}
