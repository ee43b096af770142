import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSession, type TestSession } from '../support/ask.ts'
import { onePendingOf, respond } from '../support/mcp.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { cli, processTestMs, sessionVariables } from './support/process.ts'
import { type Line, type RawClient, startRawClient } from './support/raw-client.ts'

const require = createRequire(import.meta.url)
const everything = join(
  dirname(require.resolve('@modelcontextprotocol/server-everything/package.json')),
  'dist',
  'index.js',
)

let server: TestServer
let session: TestSession
beforeAll(async () => {
  server = await startServer()
  session = await createSession(server)
})
afterAll(() => server[Symbol.asyncDispose]())

/** A client with all that a server could want of one. */
const capabilities = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: { listChanged: true },
  tasks: { requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } },
}

const answers: Record<string, unknown> = {
  'roots/list': { roots: [{ uri: 'file:///srv/project', name: 'project' }] },
  'sampling/createMessage': {
    role: 'assistant',
    model: 'none',
    content: { type: 'text', text: 'A reply of no model.' },
  },
}

/** One value for every kind of field that a schema can have. */
const wholeForm = {
  name: 'Ada',
  check: true,
  firstLine: 'It was bright.',
  email: 'ada@example.org',
  homepage: 'https://example.org/ada',
  birthdate: '1815-12-10',
  integer: 7,
  number: 2.5,
  untitledSingleSelectEnum: 'Joey',
  untitledMultipleSelectEnum: ['Piano', 'Drums'],
  titledSingleSelectEnum: 'hero-2',
  titledMultipleSelectEnum: ['fish-1', 'fish-3'],
  legacyTitledEnum: 'pet-3',
}

interface Answer {
  action: 'accept' | 'decline' | 'cancel'
  content?: Record<string, unknown>
}

/** Every tool but those of tasks: its arguments, and what the person says to its questions. */
const calls: { name: string; args?: Line; person?: Answer[]; progressToken?: string }[] = [
  { name: 'echo', args: { message: 'hello \u2028 world \u{1f600}' } },
  { name: 'echo', args: {} },
  ...['error', 'success', 'debug'].map((messageType) => ({
    name: 'get-annotated-message',
    args: { messageType, includeImage: true },
  })),
  { name: 'get-env' },
  { name: 'get-resource-links', args: { count: 4 } },
  { name: 'get-resource-reference', args: { resourceType: 'Text', resourceId: 3 } },
  { name: 'get-resource-reference', args: { resourceType: 'Blob', resourceId: 2 } },
  { name: 'get-roots-list' },
  { name: 'get-structured-content', args: { location: 'Chicago' } },
  { name: 'get-sum', args: { a: 2, b: 40 } },
  { name: 'get-tiny-image' },
  {
    name: 'gzip-file-as-resource',
    args: { name: 'a.gz', data: 'data:text/plain,abc', outputType: 'resource' },
  },
  { name: 'gzip-file-as-resource', args: { name: 'b.gz', data: 'data:text/plain,abc' } },
  { name: 'toggle-simulated-logging' },
  { name: 'toggle-simulated-logging' },
  { name: 'toggle-subscriber-updates' },
  { name: 'toggle-subscriber-updates' },
  { name: 'trigger-long-running-operation', args: { duration: 0.2, steps: 4 }, progressToken: 'p-1' },
  { name: 'trigger-sampling-request', args: { prompt: 'Say it', maxTokens: 5 } },
  { name: 'trigger-sampling-request-async', args: { prompt: 'Say it' } },
  { name: 'trigger-elicitation-request', person: [{ action: 'accept', content: wholeForm }] },
  { name: 'trigger-elicitation-request', person: [{ action: 'accept', content: { name: 'Ada' } }] },
  { name: 'trigger-elicitation-request', person: [{ action: 'decline' }] },
  { name: 'trigger-elicitation-request', person: [{ action: 'cancel' }] },
  {
    name: 'trigger-elicitation-request-async',
    person: [{ action: 'accept', content: { name: 'Ada', favoriteColor: 'Blue', agreeToTerms: false } }],
  },
  {
    name: 'trigger-url-elicitation',
    args: { url: 'https://id.example.org/a', message: 'Sign in', elicitationId: 'e-1' },
    person: [{ action: 'accept' }],
  },
  {
    name: 'trigger-url-elicitation',
    args: { url: 'https://id.example.org/b', elicitationId: 'e-2' },
    person: [{ action: 'decline' }],
  },
  { name: 'no-such-tool' },
]

/** A conversation about everything that the server has. */
async function converse(client: RawClient, person: (answers: Answer[]) => Promise<void>): Promise<string[]> {
  const clientInfo = { name: 'raw', version: '1' }
  await client.call('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo })
  client.notify('notifications/initialized')
  const { result } = await client.call('tools/list')
  for (const { name, args = {}, person: said = [], progressToken } of calls) {
    const _meta = progressToken === undefined ? {} : { _meta: { progressToken } }
    const reply = client.call('tools/call', { name, arguments: args, ..._meta })
    await person(said)
    await reply
  }
  for (const method of ['prompts/list', 'resources/list', 'resources/templates/list'])
    await client.call(method)
  for (const [name, args] of [
    ['simple-prompt', {}],
    ['args-prompt', { city: 'Paris' }],
    ['completable-prompt', { department: 'Sales', name: 'Eve' }],
    ['resource-prompt', { resourceType: 'Text', resourceId: '1' }],
    ['resource-prompt', { resourceType: 'None', resourceId: '1' }],
  ] as const)
    await client.call('prompts/get', { name, arguments: args })
  await client.call('completion/complete', {
    ref: { type: 'ref/prompt', name: 'completable-prompt' },
    argument: { name: 'name', value: 'E' },
    context: { arguments: { department: 'Sales' } },
  })
  for (const uri of [
    'demo://resource/dynamic/text/1',
    'demo://resource/dynamic/blob/2',
    'demo://resource/static/document/features.md',
    'demo://no/such',
  ])
    await client.call('resources/read', { uri })
  await client.call('resources/subscribe', { uri: 'demo://resource/dynamic/text/1' })
  await client.call('resources/unsubscribe', { uri: 'demo://resource/dynamic/text/1' })
  await client.call('logging/setLevel', { level: 'error' })
  await client.call('ping')
  await client.call('no/such/method')

  // The one tool that is a task: it asks while its result is waited for.
  const created = await client.call('tools/call', {
    name: 'simulate-research-query',
    arguments: { topic: 'python', ambiguous: true },
    task: { ttl: 60_000 },
  })
  const { taskId } = created.result.task
  await client.call('tasks/get', { taskId })
  const researched = client.call('tasks/result', { taskId })
  await person([{ action: 'accept', content: { interpretation: 'snake' } }])
  await researched
  await client.call('tasks/list')
  return result.tools.map(({ name }: Line) => name)
}

/** What is another thing every time: ids that are made up, moments, a level by chance, and when the roots were read. */
function normalised(lines: Line[]): string[] {
  return lines
    .filter(({ method, params }) => method !== 'notifications/message' || !/^Roots updated/.test(params.data))
    .map((line) =>
      JSON.stringify(line)
        .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g, 'ID')
        .replace(/"level":"\w+","data":"\w+[- ]level[- ]message"/, '"level":"ANY"')
        .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replace(/\d{1,2}:\d\d:\d\d [AP]M/g, 'TIME')
        .replace(/"blob":"[^"]*"/g, (blob) =>
          Buffer.from(blob.slice(8, -1), 'base64')
            .toString('latin1')
            .replace(/\d+:\d\d:\d\d [AP]M/, 'TIME'),
        ),
    )
}

it('every tool, prompt and resource is as without the bridge, and its questions come to a person', {
  timeout: processTestMs,
}, async () => {
  const environment = sessionVariables(server.url, session.id)
  // Without the bridge the client answers, what the person answers with it.
  const queued: Answer[] = []
  await using direct = startRawClient([process.execPath, everything], environment, (method) =>
    method === 'elicitation/create' ? queued.shift() : answers[method],
  )
  await using bridged = startRawClient(
    [process.execPath, cli, 'bridge', '--server', 'everything', '--', process.execPath, everything],
    environment,
    (method) => answers[method],
  )
  const seen: { mode: string; message: string; schema: any }[] = []
  const [tools, bridgedTools] = await Promise.all([
    converse(direct, async (said) => {
      queued.push(...said)
    }),
    converse(bridged, async (said) => {
      for (const { action, content } of said) {
        const { requestId, mode, message, requestedSchema } = await onePendingOf(server, session.id)
        seen.push({ mode, message, schema: requestedSchema })
        await respond(server, requestId, { action_type: action, ...(content && { content }) })
      }
    }),
  ])

  expect(bridgedTools).toEqual(tools)
  const called = new Set([...calls.map(({ name }) => name), 'simulate-research-query'])
  expect(tools.filter((name) => !called.has(name))).toEqual([])
  expect(normalised(bridged.received)).toEqual(normalised(direct.received))
  // How often the server reads the roots is a race of its own.
  const withoutRoots = ({ asked }: RawClient) => asked.filter((method) => method !== 'roots/list')
  expect(withoutRoots(direct).filter((method) => method === 'elicitation/create')).toHaveLength(seen.length)
  expect(withoutRoots(bridged)).toEqual(
    withoutRoots(direct).filter((method) => method !== 'elicitation/create'),
  )
  expect(bridged.asked).toContain('roots/list')

  expect(seen.map(({ mode }) => mode)).toEqual(['FORM', 'FORM', 'FORM', 'FORM', 'FORM', 'URL', 'URL', 'FORM'])
  expect(Object.keys(seen[0]!.schema.properties)).toEqual(Object.keys(wholeForm))
})
