import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  executeRootSelectionSet,
  Kind,
  mapSourceToResponseEvent,
  type OperationDefinitionNode,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
  visit,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { GraphqlContext } from '../context.ts'
import { documentNumber } from './document-number.ts'

type Result = ExecutionResult | Promise<ExecutionResult>

/**
 * Subscribers who asked for the same and may see the same are sent the same: of any number of dashboards that follow the queue,
 * one has its selection carried out for an event, and the others get what came of it. A result with an error is nobody
 * else's, as an error may name who asked.
 *
 * It rests on what holds for every field below a subscription: what it resolves to hangs on the event, on the arguments
 * below the root, and of the identity on its role and the session that it is bound to.
 */
export function shareEvents(): Plugin {
  return {
    onSubscribe({ setSubscribeFn }) {
      setSubscribeFn(subscribeShared)
    },
  }
}

async function subscribeShared(args: ExecutionArgs) {
  const validated = validateSubscriptionArgs(args)
  if (!('schema' in validated)) return { errors: validated }
  const source = await createSourceEventStream(validated)
  if (!(Symbol.asyncIterator in source)) return source
  const key = keyOf(args, validated)
  return mapSourceToResponseEvent(validated, source, (forEvent) => resultFor(key, forEvent))
}

/** By event: the tail hands one object to all subscribers. A replayed one is the subscriber's own, and so is its result. */
const results = new WeakMap<object, Map<string, Result>>()

function resultFor(key: string, forEvent: ValidatedSubscriptionArgs): Result {
  const event = forEvent.rootValue as object
  const ofEvent = results.get(event) ?? new Map<string, Result>()
  results.set(event, ofEvent)
  const known = ofEvent.get(key)
  if (known === undefined) {
    const result = executeRootSelectionSet(forEvent) as Result
    ofEvent.set(key, result)
    return result
  }
  const ownIfFaulty = (result: ExecutionResult) =>
    result.errors ? (executeRootSelectionSet(forEvent) as Result) : result
  return known instanceof Promise ? known.then(ownIfFaulty) : ownIfFaulty(known)
}

function keyOf(
  { document, operationName, variableValues }: ExecutionArgs,
  { contextValue }: ValidatedSubscriptionArgs,
) {
  const { role, sessionId } = (contextValue as GraphqlContext).identity
  const values = variablesBelowRoot(document).map((name) => variableValues?.[name])
  return JSON.stringify([documentNumber(document), operationName, role, sessionId, values])
}

const known = new WeakMap<DocumentNode, string[]>()

/**
 * The variables that a document uses below the arguments of the root: those say which events come, and not what is told of
 * them. Exported for its tests.
 */
export function variablesBelowRoot(document: DocumentNode): string[] {
  let variables = known.get(document)
  if (!variables) {
    const names = new Set<string>()
    const roots = document.definitions
      .filter((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION)
      .flatMap(({ selectionSet }) => selectionSet.selections)
    visit(document, {
      enter(node, _key, _parent, _path, ancestors) {
        if (node.kind === Kind.VARIABLE_DEFINITION) return false
        if (node.kind === Kind.ARGUMENT && roots.some((root) => root === ancestors.at(-1))) return false
        if (node.kind === Kind.VARIABLE) names.add(node.name.value)
        return undefined
      },
    })
    variables = [...names].sort()
    known.set(document, variables)
  }
  return variables
}
