import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { GraphqlContext } from '../context.ts'
import { documentNumber } from './document-number.ts'

/** For how long a result is used again while nothing happens: what hangs on the clock, such as a deadline or the moment of the last poll, is late by no more. */
const sharedMs = 200
const variablesMax = 2_000

interface Kept {
  version: bigint
  /** As `presence` counted them. */
  arrivals: number
  at: number
  result: Promise<ExecutionResult>
}

/**
 * Those who ask for the same at the same time, and may see the same, are answered together, as long as nothing was committed
 * in between by any server, and nobody began to listen at this one: of a hundred dashboards that read the queue anew after an
 * event, one reads it. The database is asked every time whether something was committed. A result with an error is nobody
 * else's, as an error may name who asked.
 */
export function shareReads(): Plugin {
  const kept = new Map<string, Kept>()

  async function read(
    args: ExecutionArgs,
    variables: string,
    execute: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>,
  ): Promise<ExecutionResult> {
    const { services, identity } = args.contextValue as GraphqlContext
    const version = await services.timelineVersion().catch(() => null)
    if (version === null) return execute(args)
    const { arrivals } = services.presence
    const { role, sessionId } = identity
    const key = [documentNumber(args.document), args.operationName, role, sessionId, variables].join('\n')
    const at = services.journal.now().getTime()
    const known = kept.get(key)
    const isCurrent =
      known?.version === version && known.arrivals === arrivals && Math.abs(at - known.at) < sharedMs
    if (isCurrent) {
      const result = await known.result.catch(() => null)
      return result === null || result.errors ? execute(args) : result
    }
    const mine: Kept = { version, arrivals, at, result: Promise.resolve(execute(args)).then(writtenOnce) }
    kept.set(key, mine)
    setTimeout(() => kept.get(key) === mine && kept.delete(key), sharedMs).unref()
    return mine.result
  }

  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      if (!isShared(args)) return
      const variables = JSON.stringify(args.variableValues ?? null)
      if (variables.length > variablesMax) return
      setExecuteFn((given) => read(given as ExecutionArgs, variables, executeFn))
    },
  }
}

/** The engine writes a result down with this, for each who is sent it. */
function writtenOnce(result: ExecutionResult): ExecutionResult {
  let text: string | undefined
  const stringify = (whole: ExecutionResult) => (text ??= JSON.stringify(whole))
  return Object.defineProperty(result, 'stringify', { value: stringify, enumerable: false })
}

const known = new WeakMap<OperationDefinitionNode, boolean>()

function isShared({ schema, document, operationName }: ExecutionArgs): boolean {
  const operation = getOperationAST(document, operationName)
  if (!operation) return false
  const answer = known.get(operation) ?? asksForSharedAlone(schema, document, operation)
  known.set(operation, answer)
  return answer
}

/** Exported for its tests. */
export function asksForSharedAlone(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation }: OperationDefinitionNode,
): boolean {
  if (operation !== OperationTypeNode.QUERY) return false
  const types = new TypeInfo(schema)
  let answer = true
  visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.FIELD]() {
        const field = types.getFieldDef()
        if (field?.name === '__typename') return
        const { isShared, isOfTheMoment } = field?.extensions ?? {}
        const isRoot = types.getParentType() === schema.getQueryType()
        if (isOfTheMoment || (isRoot && !isShared)) answer = false
      },
    }),
  )
  return answer
}
