import { GraphQLError } from 'graphql'
import { createYoga, type Plugin } from 'graphql-yoga'
import type { GraphqlContext } from '../context.ts'
import { createSchema } from '../schema.ts'
import type { GraphqlServices } from '../services.ts'
import { limitOperations, operationLimits } from './limits.ts'
import { createMask } from './masking.ts'
import { shareEvents } from './shared-events.ts'
import { shareReads } from './shared-reads.ts'

export const graphqlPath = '/graphql'

/** The engine behind HTTP, SSE and WebSocket: one way to parse, limit, run and mask. */
export function createEngine({ log }: Pick<GraphqlServices, 'log'>) {
  return createYoga<GraphqlContext>({
    schema: createSchema(),
    graphqlEndpoint: graphqlPath,
    plugins: [blameUnreadable(), limitOperations(), shareEvents(), shareReads()],
    batching: { limit: operationLimits.batchMax },
    maskedErrors: { maskError: createMask(log) },
    // Whom to answer is decided before; a page of another site is nobody.
    cors: false,
    multipart: false,
    graphiql: false,
    landingPage: false,
    logging: false,
  })
}

/** Variables in an address that are not JSON are the caller's mistake; the engine takes them for its own. */
function blameUnreadable(): Plugin {
  return {
    onRequestParse({ requestParser, setRequestParser }) {
      if (requestParser)
        setRequestParser(async (request) => {
          try {
            return await requestParser(request)
          } catch (error) {
            if (!(error instanceof SyntaxError)) throw error
            throw new GraphQLError('`variables` and `extensions` must be JSON.', {
              extensions: { code: 'BAD_REQUEST', http: { status: 400 } },
            })
          }
        })
    },
  }
}

export type Engine = ReturnType<typeof createEngine>
