import {
  GraphQLObjectType,
  type GraphQLOutputType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allows, type Permission, type Role } from '../../src/auth/role.ts'
import { createSchema } from '../../src/graphql/schema.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

let server: GraphqlServer
beforeAll(async () => {
  server = await startGraphql()
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

const schema = createSchema()
const roles: Role[] = ['viewer', 'responder', 'launcher', 'operator', 'admin']
const nothing = '00000000-0000-7000-8000-000000000000'

/** Who may do what, and how it is called here. Every field of every root type has a line, or the first test fails. */
const rules: Record<string, { permission: Permission; args?: string }> = {
  'Query.viewer': { permission: 'read' },
  'Query.session': { permission: 'read', args: `id: "${nothing}"` },
  'Query.sessions': { permission: 'read' },
  'Query.attentionQueue': { permission: 'read' },
  'Query.elicitation': { permission: 'read', args: `id: "${nothing}"` },
  'Query.elicitations': { permission: 'read' },
  'Query.gate': { permission: 'read' },
  'Query.eventCursor': { permission: 'read' },
  'Query.apiKeys': { permission: 'administer' },
  'Query.auditLog': { permission: 'administer' },
  'Mutation.createSession': { permission: 'launch', args: 'input: { title: "by the table" }' },
  'Mutation.startSession': { permission: 'launch', args: `id: "${nothing}"` },
  'Mutation.pauseSession': { permission: 'launch', args: `id: "${nothing}"` },
  'Mutation.resumeSession': { permission: 'launch', args: `id: "${nothing}"` },
  'Mutation.sleepSession': { permission: 'launch', args: `id: "${nothing}"` },
  'Mutation.failSession': { permission: 'launch', args: `id: "${nothing}", reason: "a test"` },
  'Mutation.archiveSession': { permission: 'launch', args: `id: "${nothing}"` },
  'Mutation.unarchiveSession': { permission: 'launch', args: `id: "${nothing}"` },
  'Mutation.respondToElicitation': {
    permission: 'answer',
    args: `input: { id: "${nothing}", action: ACCEPT }`,
  },
  'Mutation.respondToElicitations': {
    permission: 'answer',
    args: `input: [{ id: "${nothing}", action: ACCEPT }]`,
  },
  'Mutation.prepareLaunch': { permission: 'launch', args: `input: { sessionId: "${nothing}" }` },
  'Mutation.createApiKey': {
    permission: 'administer',
    args: 'input: { name: "by the table", role: VIEWER }',
  },
  'Mutation.rotateApiKey': { permission: 'administer', args: `id: "${nothing}"` },
  'Mutation.revokeApiKey': { permission: 'administer', args: `id: "${nothing}"` },
  'Mutation.probeGate': { permission: 'launch' },
  'Mutation.rotateGateToken': { permission: 'launch', args: `sessionId: "${nothing}"` },
  'Mutation.registerProcess': {
    permission: 'launch',
    args: `input: { sessionId: "${nothing}", host: "h", pid: 1 }`,
  },
  'Mutation.heartbeat': { permission: 'launch', args: `input: { sessionId: "${nothing}" }` },
  'Mutation.reportExit': { permission: 'launch', args: `input: { sessionId: "${nothing}", exitCode: 0 }` },
  'Subscription.needsInput': { permission: 'read' },
  'Subscription.banners': { permission: 'read' },
  'Subscription.session': { permission: 'read', args: `id: "${nothing}"` },
  'Subscription.timeline': { permission: 'read' },
  'Subscription.gate': { permission: 'read' },
}

const roots = [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!]
const fields = roots.flatMap((root) =>
  Object.keys(root.getFields()).map((field) => ({ root, field, name: `${root.name}.${field}` })),
)

function selection(type: GraphQLOutputType): string {
  const named = isNonNullType(type) || isListType(type) ? selection(type.ofType) : null
  if (named !== null) return named
  return isUnionType(type) || isObjectType(type) || type instanceof GraphQLObjectType ? '{ __typename }' : ''
}

function operation(root: GraphQLObjectType, field: string): string {
  const { args } = rules[`${root.name}.${field}`]!
  const call = args ? `${field}(${args})` : field
  return `${root.name.toLowerCase()} { ${call} ${selection(root.getFields()[field]!.type)} }`
}

test('every field of every root type has a rule, in the schema and in the table of this test', () => {
  expect(fields.map(({ name }) => name).toSorted()).toEqual(Object.keys(rules).toSorted())
  for (const { root, field, name } of fields)
    expect(root.getFields()[field]!.extensions, `${name} declares who may use it`).toMatchObject({
      pothosOptions: { authScopes: expect.anything() },
    })
})

/** Keys of every role, and those that are bound to a session: whatever its role says, such a key may look and no more. */
const holders = [
  ...roles.map((role) => ({ who: role as string, role, isBound: false })),
  ...roles.map((role) => ({ who: `${role} and bound to a session`, role, isBound: true })),
]

describe.each(holders)('a key of the role $who', ({ role, isBound }) => {
  let key: string
  beforeAll(async () => {
    const sessionId = isBound ? (await server.session()).id : null
    key = (await server.key({ role, sessionId })).secret
  })
  const allowed = (name: string) =>
    isBound ? rules[name]!.permission === 'read' : allows(role, rules[name]!.permission)

  test.each(fields.filter(({ root }) => root.name !== 'Subscription'))(
    '$name',
    async ({ root, field, name }) => {
      const { body } = await server.ask(operation(root, field), {}, key)
      const codes = (body.errors ?? []).map(
        (error: { extensions?: { code?: string } }) => error.extensions?.code,
      )
      expect(codes).toEqual(allowed(name) ? [] : ['FORBIDDEN'])
    },
  )

  test.each(fields.filter(({ root }) => root.name === 'Subscription'))(
    '$name',
    async ({ root, field, name }) => {
      const before = server.fanout.size
      const results = server.sse(key).iterate({ query: operation(root, field) })
      if (name === 'Subscription.session') {
        const { value } = await results.next()
        expect(value.errors[0].extensions.code).toBe('NOT_FOUND')
      } else {
        await expect.poll(() => server.fanout.size).toBe(before + 1)
        await results.return!()
        await expect.poll(() => server.fanout.size).toBe(before)
      }
    },
  )
})
