import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

let server: GraphqlServer
let sessionId: string
let elicitationId: string
beforeAll(async () => {
  server = await startGraphql()
  sessionId = (await server.session()).id
  elicitationId = (await server.elicit(sessionId)).elicitation.id
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

/** Every argument that takes text, with all of them in one operation each. */
const operations = {
  session: 'query($t: String!, $id: ID!) { a: session(slug: $t) { id } b: session(id: $id) { id } }',
  sessions:
    'query($t: String!) { a: sessions(after: $t) { totalCount } b: sessions(last: 1, before: $t) { totalCount } }',
  queue: 'query($t: String!) { attentionQueue(after: $t) { totalCount } }',
  elicitation:
    'query($t: String!, $id: ID!) { a: elicitation(requestId: $t) { id } b: elicitation(id: $id) { id } }',
  elicitations:
    'query($t: String!, $id: ID!) { a: elicitations(toolName: $t, sessionId: $id) { totalCount edges { node { id } } } b: elicitations(after: $t) { totalCount } }',
  belongings: `query($t: String!) { session(id: "SESSION") { elicitations(after: $t) { totalCount } timeline(before: $t) { totalCount } } }`,
  create:
    'mutation($t: String!, $j: JSON) { createSession(input: { title: $t, slug: $t, workingDirectory: $t, metadata: $j }) { __typename } }',
  metadata:
    'mutation($t: String!, $j: JSON) { createSession(input: { title: "x", metadata: { text: $t, json: $j } }) { ... on CreateSessionSuccess { session { metadata } } } }',
  fail: 'mutation($t: String!, $id: ID!) { a: failSession(id: $id, reason: $t) { __typename } b: resumeSession(id: $id) { __typename } }',
  respond:
    'mutation($t: String!, $id: ID!, $j: JSON) { a: respondToElicitation(input: { id: $id, action: ACCEPT, content: $j, note: $t }) { __typename } b: respondToElicitation(input: { requestId: $t, action: DECLINE }) { __typename } }',
  content:
    'mutation($t: String!, $j: JSON) { respondToElicitation(input: { id: "ELICITATION", action: ACCEPT, content: { text: $t, json: $j } }) { __typename } }',
  launch:
    'mutation($t: String!, $id: ID!) { a: prepareLaunch(input: { sessionId: $id, dotenv: $t }) { __typename } b: prepareLaunch(input: { sessionId: "SESSION", dotenv: $t, mcpConfig: { format: JSON, text: $t } }) { __typename } }',
  keys: 'mutation($t: String!, $id: ID!) { a: createApiKey(input: { name: $t, role: VIEWER, sessionId: $id }) { __typename } b: revokeApiKey(id: $id) { __typename } }',
  rotate: 'mutation($id: ID!) { rotateGateToken(sessionId: $id) { __typename } }',
  process:
    'mutation($t: String!, $id: ID!) { a: registerProcess(input: { sessionId: $id, host: $t, pid: 1, command: $t }) { __typename } b: registerProcess(input: { sessionId: "SESSION", host: $t, pid: 1, command: $t }) { __typename } c: heartbeat(input: { sessionId: "SESSION", gate: { url: $t, reachable: true, detail: $t } }) { __typename } d: reportExit(input: { sessionId: $id, exitCode: 0, signal: $t }) { __typename } }',
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '\0',
    '\ud800',
    '\udfff\ud800',
    '__proto__',
    'constructor',
    '%',
    "'; drop table session --",
    '\\',
    '\\u0000',
    '1e400',
    '-1',
    '9223372036854775808',
    '_',
    '__',
    '1_1_',
    'x'.repeat(20_000),
  ),
  fc.uuid(),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
)
const id = fc.oneof(text, fc.uuid(), fc.constantFrom('SESSION', 'ELICITATION'))
const named = (value: string) =>
  value.replaceAll('SESSION', sessionId).replaceAll('ELICITATION', elicitationId)

test.each(Object.entries(operations))(
  'no text of a stranger is an error of the server: %s',
  async (_name, query) => {
    await fc.assert(
      fc.asyncProperty(
        text,
        id,
        fc.jsonValue({ maxDepth: 4, noNullPrototype: false } as object),
        async (t, anId, j) => {
          const variables: Record<string, unknown> = {}
          if (query.includes('$t:')) variables.t = t
          if (query.includes('$id:')) variables.id = named(anId)
          if (query.includes('$j:')) variables.j = j
          const { status, body } = await server.ask(named(query), variables)
          expect(status).toBeLessThan(500)
          for (const error of body.errors ?? [])
            expect(error.extensions?.code).toMatch(/^(BAD_USER_INPUT|NOT_FOUND)$/)
        },
      ),
      { numRuns: 30 },
    )
  },
)
