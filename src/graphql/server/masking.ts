import { randomUUID } from 'node:crypto'
import { GraphQLError } from 'graphql'
import type { Log } from '../../base/log.ts'
import { isDatabaseTrouble } from '../../database/trouble.ts'

/**
 * Errors that were made to be read pass; of anything else the client gets a reference, and the log what happened. A
 * resolver's own GraphQLError is one without another kind of error behind it.
 */
export function createMask(log: Log) {
  return function mask(error: unknown): GraphQLError {
    const cause = causeOf(error)
    if (cause instanceof GraphQLError) return error as GraphQLError
    const reference = randomUUID()
    const trouble = isDatabaseTrouble(cause)
    log[trouble ? 'warn' : hasLeft(cause) ? 'info' : 'error'](
      { err: cause, reference },
      'a GraphQL operation failed',
    )
    const { nodes, source, positions, path } =
      error instanceof GraphQLError ? error : ({} as Partial<GraphQLError>)
    return new GraphQLError(
      trouble
        ? `The database cannot be reached right now. Try again in a moment. The log has the details under ${reference}.`
        : `Something went wrong on this server. The log has the details under ${reference}.`,
      {
        nodes,
        source,
        positions,
        path,
        extensions: { code: trouble ? 'DATABASE_UNAVAILABLE' : 'INTERNAL', reference, unexpected: true },
      },
    )
  }
}

/** The reader of a stream went away in the middle of it. */
function hasLeft(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_STREAM_PREMATURE_CLOSE'
}

function causeOf(error: unknown): unknown {
  let each = error
  while (each instanceof GraphQLError && each.originalError) each = each.originalError
  return each
}
