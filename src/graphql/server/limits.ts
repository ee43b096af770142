import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  Kind,
  Lexer,
  parse,
  Source,
  TokenKind,
  type ValidationContext,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'

/** What one operation may ask for. The attention queue, 100 sessions with everything there is to show, has 68,000 fields. */
export const operationLimits = {
  tokensMax: 4_000,
  depthMax: 16,
  /** Brackets within each other: of selections, and of arguments and their values. */
  nestingMax: 64,
  /** Fields that would be resolved if every list were as long as it may be. */
  complexityMax: 100_000,
  aliasesMax: 50,
  directivesMax: 50,
  /** Operations in one HTTP request. */
  batchMax: 10,
} as const

/** A request, and with it the document and the variables. */
export const graphqlBodyBytesMax = 4 * 1024 * 1024

function tooMuch(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status: 400 } } })
}

/** Counts what a document may not have without bound, fragments included. */
function countLimits(context: ValidationContext): ASTVisitor {
  const { aliasesMax, directivesMax } = operationLimits
  let aliases = 0
  let directives = 0
  return {
    Field(node) {
      if (node.alias && ++aliases === aliasesMax + 1)
        context.reportError(tooMuch('TOO_MANY_ALIASES', `Use at most ${aliasesMax} aliases in one document.`))
    },
    Directive() {
      if (++directives === directivesMax + 1)
        context.reportError(
          tooMuch('TOO_MANY_DIRECTIVES', `Use at most ${directivesMax} directives in one document.`),
        )
    },
  }
}

interface Operation {
  schema: Parameters<typeof complexityFromQuery>[1]['schema']
  document: DocumentNode
  operationName?: string | null
  variableValues?: Record<string, unknown> | null
  contextValue: object
}

/** Why an operation may not run: it is too deep or too large, or its variables are wrong. Null when it may. */
function excess({
  schema,
  document,
  operationName,
  variableValues,
  contextValue,
}: Operation): GraphQLError | null {
  const chosen = document.definitions.find(
    (each) =>
      each.kind === Kind.OPERATION_DEFINITION &&
      (operationName == null || each.name?.value === operationName),
  )
  if (!chosen) return null
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  const { depthMax, complexityMax } = operationLimits
  try {
    const { depth, complexity } = complexityFromQuery(
      { kind: Kind.DOCUMENT, definitions: [chosen, ...fragments] },
      { schema, ctx: contextValue, variables: variableValues ?? {} },
    )
    if (depth > depthMax)
      return tooMuch('TOO_DEEP', `Nest at most ${depthMax} levels; this operation has ${depth}.`)
    if (complexity > complexityMax)
      return tooMuch(
        'TOO_COMPLEX',
        `This operation may touch ${complexity} fields; the most is ${complexityMax}. Ask for smaller pages or fewer fields.`,
      )
    return null
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    const { message, nodes } = error
    return new GraphQLError(message, { nodes, extensions: { code: 'BAD_USER_INPUT', http: { status: 400 } } })
  }
}

/** Before anything walks down into the document, as whatever does so walks with the stack. */
function refuseNested(text: string | Source): void {
  const lexer = new Lexer(typeof text === 'string' ? new Source(text) : text)
  let depth = 0
  for (let tokens = 0; tokens <= operationLimits.tokensMax; tokens++) {
    const { kind } = lexer.advance()
    if (kind === TokenKind.EOF) return
    if (opening.has(kind)) depth++
    if (closing.has(kind)) depth--
    if (depth > operationLimits.nestingMax)
      throw tooMuch('TOO_DEEP', `Nest at most ${operationLimits.nestingMax} brackets in a document.`)
  }
}

const opening = new Set<string>([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const closing = new Set<string>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

export function limitOperations(): Plugin {
  return {
    onParse({ setParseFn }) {
      setParseFn((source, options) => {
        refuseNested(source)
        return parse(source, { ...options, maxTokens: operationLimits.tokensMax })
      })
    },
    onValidate({ addValidationRule }) {
      addValidationRule(countLimits)
    },
    onExecute({ args, setResultAndStopExecution }) {
      const error = excess(args)
      if (error) setResultAndStopExecution({ errors: [error] })
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const error = excess(args)
      if (error) setResultAndStopExecution({ errors: [error] })
    },
  }
}
