import { GraphQLError } from 'graphql'
import { ForbiddenError, isRefusal, type Refusal, TooManyError } from '../base/refusal.ts'

/**
 * The value of a command, or its refusal thrown: the result union shows those that are part of it. A missing permission
 * is no part of any union but an error of the request.
 */
export function done<Value>(outcome: Value | Refusal): Exclude<Value, Refusal> {
  if (outcome instanceof ForbiddenError || outcome instanceof TooManyError)
    throw new GraphQLError(outcome.message, { extensions: { code: outcome.code } })
  if (isRefusal(outcome)) throw outcome
  return outcome as Exclude<Value, Refusal>
}
