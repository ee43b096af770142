import { setTimeout } from 'node:timers/promises'
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

/**
 * For how long a result is used again while nothing happens. What changes without an event is late by no more: a deadline that
 * passes, the moment of the last poll, what retention erased.
 */
const sharedMs = 200
const patienceMs = 250
const variablesMax = 2_000

type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>

interface Reading {
  /** It tells of all that was committed up to here; goes up until it begins. */
  version: bigint
  /** As `presence` counted them. */
  arrivals: number
  at: number
  state: 'waiting' | 'under way' | 'done'
  result: Promise<ExecutionResult>
}

/**
 * Those who ask for the same, and may see the same, are answered together. What was read is used again as long as nothing was
 * committed since by any server, and nobody began to listen at this one; the database is asked every time whether something
 * was. Where something was while a reading is under way, whoever comes shares the next. So of a hundred dashboards that read
 * the queue anew after an event one reads it, and however fast events come there is one reading at a time.
 *
 * A result with an error is nobody else's, as an error may name who asked.
 */
export function shareReads(): Plugin {
  const readings = new Map<string, Reading>()

  async function read(args: ExecutionArgs, variables: string, execute: Execute): Promise<ExecutionResult> {
    const { services, identity } = args.contextValue as GraphqlContext
    const version = await services.timelineVersion().catch(() => null)
    if (version === null) return execute(args)
    const { arrivals } = services.presence
    const { role, sessionId } = identity
    const key = [documentNumber(args.document), args.operationName, role, sessionId, variables].join('\n')
    const now = () => services.journal.now().getTime()
    const latest = readings.get(key)
    const isCurrent =
      latest?.version === version &&
      latest.arrivals === arrivals &&
      (latest.state === 'waiting' || Math.abs(now() - latest.at) < sharedMs)
    if (latest && (isCurrent || latest.state === 'waiting')) {
      if (version > latest.version) latest.version = version
      latest.arrivals = arrivals
      const result = await latest.result.catch(() => null)
      return result === null || result.errors ? execute(args) : result
    }
    return begin(key, { version, arrivals, now }, latest, () => execute(args)).result
  }

  function begin(
    key: string,
    { version, arrivals, now }: Pick<Reading, 'version' | 'arrivals'> & { now: () => number },
    before: Reading | undefined,
    execute: () => ReturnType<Execute>,
  ): Reading {
    const run = async () => {
      reading.state = 'under way'
      reading.at = now()
      try {
        return writtenOnce(await execute())
      } finally {
        reading.state = 'done'
        void setTimeout(sharedMs, null, { ref: false }).then(
          () => readings.get(key) === reading && readings.delete(key),
        )
      }
    }
    const { promise: result, resolve } = Promise.withResolvers<ExecutionResult>()
    const reading: Reading = { version, arrivals, at: now(), state: 'waiting', result }
    resolve(before?.state === 'under way' ? ended(before).then(run) : run())
    readings.set(key, reading)
    return reading
  }

  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      if (!isShared(args)) return
      const variables = textOf(args.variableValues ?? {})
      if (variables === null) return
      setExecuteFn((given) => read(given as ExecutionArgs, variables, executeFn))
    },
  }
}

/** What tells variables apart; null for those that are long, or nested, which the arguments of what is shared never are. */
function textOf(variables: Record<string, unknown>): string | null {
  const isPlain = (value: unknown) => typeof value !== 'object' || value === null
  if (
    !Object.values(variables).every(
      (value) => isPlain(value) || (Array.isArray(value) && value.every(isPlain)),
    )
  )
    return null
  const text = JSON.stringify(variables)
  return text.length > variablesMax ? null : text
}

/** Settles when a reading has ended, or takes so long that nobody should wait for it. */
function ended({ result }: Reading): Promise<unknown> {
  return Promise.race([result.catch(() => {}), setTimeout(patienceMs, null, { ref: false })])
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
