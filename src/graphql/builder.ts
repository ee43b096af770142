import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import ErrorsPlugin from '@pothos/plugin-errors'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { GraphQLError } from 'graphql'
import { may } from '../auth/identity.ts'
import type { Permission } from '../auth/role.ts'
import type PrismaTypes from '../database/generated/pothos.ts'
import { getDatamodel } from '../database/generated/pothos.ts'
import type { GraphqlContext } from './context.ts'

export const pageSizeDefault = 20
export const pageSizeMax = 100

const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

/**
 * The one schema builder; every noun's folder adds its part. It holds no connection: the Prisma client comes with
 * the context of each request.
 */
export const builder = new SchemaBuilder<{
  Context: GraphqlContext
  PrismaTypes: PrismaTypes
  AuthScopes: Record<Permission, boolean>
  Scalars: {
    ID: { Input: string; Output: string }
    DateTime: { Input: Date; Output: Date }
    JSON: { Input: unknown; Output: unknown }
    EventCursor: { Input: bigint; Output: bigint }
  }
  DefaultFieldNullability: false
  DefaultEdgesNullability: false
  Connection: { totalCount: () => number | Promise<number> }
}>({
  // Errors come first, so that what another plugin throws is still masked and never becomes part of a result type.
  plugins: [ErrorsPlugin, ScopeAuthPlugin, RelayPlugin, PrismaPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  prisma: {
    client: ({ services }) => services.journal.database.prisma,
    dmmf: getDatamodel(),
    filterConnectionTotalCount: true,
    defaultConnectionSize: pageSizeDefault,
    maxConnectionSize: pageSizeMax,
    exposeDescriptions: false,
  },
  scopeAuth: {
    authorizeOnSubscribe: true,
    authScopes: ({ identity }) => ({
      read: may(identity, 'read'),
      answer: may(identity, 'answer'),
      launch: may(identity, 'launch'),
      administer: may(identity, 'administer'),
    }),
    unauthorizedError: (_parent, { identity }, info) =>
      new GraphQLError(
        identity.sessionId === null
          ? `The key ${identity.name} has the role ${identity.role}, which does not allow ${info.fieldName}. Use a key of a role that does.`
          : `The key ${identity.name} is bound to a session: it may look at that session, and nothing else. Use a key of its own for ${info.fieldName}.`,
        { extensions: { code: 'FORBIDDEN' } },
      ),
  },
  relay: {
    cursorType: 'String',
    edgesFieldOptions: { nullable: false, complexity: { field: 1, multiplier: 1 } },
    nodeFieldOptions: { nullable: false },
    nodesOnConnection: false,
    nodeQueryOptions: false,
    nodesQueryOptions: false,
  },
  errors: {
    directResult: false,
    defaultTypes: [],
    defaultResultOptions: { name: ({ fieldName }) => `${capitalised(fieldName)}Success` },
    defaultUnionOptions: { name: ({ fieldName }) => `${capitalised(fieldName)}Result` },
  },
  complexity: { defaultListMultiplier: 5, disabled: false },
})

builder.queryType({ description: 'What there is. A key bound to a session sees that session only.' })
builder.mutationType({
  description:
    'What can be done. Every mutation returns a union: its success, or one of the refusals it can have, each with a message that says what to do next.',
})
builder.subscriptionType({
  description:
    'What happens, as it happens. Read `Query.eventCursor`, read what you need, then subscribe with `after`: nothing is missed and nothing repeated. After a reconnect pass the last cursor that you saw. A cursor beyond the end of the timeline is the error `CURSOR_AHEAD`: the database was restored from an older copy, so read everything anew.',
})

/** An enum whose values are the domain's own words in capitals. */
export function enumOf<const Value extends string>(
  name: string,
  description: string,
  values: Record<Value, string | null>,
) {
  return builder.enumType(name, {
    description,
    values: Object.fromEntries(
      Object.entries<string | null>(values).map(([value, text]) => [
        value.toUpperCase(),
        { value: value as Value, description: text ?? undefined },
      ]),
    ) as Record<string, { value: Value; description?: string }>,
  })
}
