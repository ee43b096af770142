import { createYoga } from 'graphql-yoga'
import type { GraphqlContext } from '../context.ts'
import { createSchema } from '../schema.ts'
import type { GraphqlServices } from '../services.ts'
import { limitOperations, operationLimits } from './limits.ts'
import { createMask } from './masking.ts'

export const graphqlPath = '/graphql'

/** The engine behind HTTP, SSE and WebSocket: one way to parse, limit, run and mask. */
export function createEngine({ log }: Pick<GraphqlServices, 'log'>) {
  return createYoga<GraphqlContext>({
    schema: createSchema(),
    graphqlEndpoint: graphqlPath,
    plugins: [limitOperations()],
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

export type Engine = ReturnType<typeof createEngine>
