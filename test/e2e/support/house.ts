import { randomUUID } from 'node:crypto'

/** A server by its public doors, as agents, scripts and browsers meet it. */
export type House = { url: string; adminKey: string }

export type Session = { id: string; slug: string; title: string }

export type Question = {
  message?: string
  requestedSchema?: unknown
  tool?: string | null
  context?: string
  expiresAt?: Date
  url?: string
  path?: string
  /** The caller's address, for a server that trusts its proxy. */
  from?: string
}

type Answer = any

export async function graphql(
  house: House,
  query: string,
  variables: object = {},
  key = house.adminKey,
): Promise<Answer> {
  const response = await fetch(`${house.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ query, variables }),
  })
  const { data, errors } = (await response.json()) as { data: Answer; errors?: { message: string }[] }
  if (errors) throw new Error(errors.map(({ message }) => message).join('; '))
  return data
}

export async function createSession(
  house: House,
  title: string,
  { start = true, runtime = 'CLAUDE_CODE' } = {},
): Promise<Session> {
  const { createSession } = await graphql(
    house,
    'mutation($input: CreateSessionInput!) { createSession(input: $input) { ... on CreateSessionSuccess { session { id slug title } } } }',
    { input: { title, start, runtime, workingDirectory: '/srv/agents/acme' } },
  )
  return createSession.session
}

/** A command of the lifecycle by name, such as `pauseSession`. */
export async function command(house: House, name: string, id: string, more = ''): Promise<void> {
  const success = `${name.charAt(0).toUpperCase()}${name.slice(1)}Success`
  const result = await graphql(
    house,
    `mutation($id: ID!) { ${name}(id: $id ${more}) { __typename ... on ${success} { session { id } } ... on UserError { message } } }`,
    { id },
  )
  if (!result[name].__typename.endsWith('Success')) throw new Error(result[name].message)
}

export async function createKey(
  house: House,
  name: string,
  role: string,
  sessionId?: string,
): Promise<{ secret: string; id: string }> {
  const { createApiKey } = await graphql(
    house,
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { ... on CreateApiKeySuccess { secret apiKey { id } } ... on UserError { message } } }',
    { input: { name, role, sessionId } },
  )
  return { secret: createApiKey.secret, id: createApiKey.apiKey.id }
}

export async function revokeKey(house: House, id: string): Promise<void> {
  await graphql(
    house,
    'mutation($id: ID!) { revokeApiKey(id: $id) { ... on RevokeApiKeySuccess { apiKey { id } } } }',
    { id },
  )
}

/** Archives whatever needs somebody, so that the next test finds an empty queue. */
export async function clearQueue(house: House): Promise<void> {
  const { attentionQueue } = await graphql(house, '{ attentionQueue(first: 100) { edges { node { id } } } }')
  for (const { node } of attentionQueue.edges) await command(house, 'archiveSession', node.id)
}

/** What an MCP server posts; gives the request id under which it polls. */
export async function ask(house: House, session: Session, question: Question = {}): Promise<string> {
  const id = randomUUID()
  const {
    message = 'Delete the tenant acme?',
    requestedSchema = {},
    tool = 'delete_tenant',
    context,
    expiresAt,
    url,
  } = question
  const response = await fetch(`${house.url}${question.path ?? '/api/v1/elicitations'}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(question.from ? { 'x-forwarded-for': question.from } : {}),
    },
    body: JSON.stringify({
      ...(url ? { mode: 'url', url, elicitationId: `el-${id}` } : { mode: 'form', requestedSchema }),
      message,
      _meta: {
        'com.pulsemcp/request-id': id,
        'com.pulsemcp/session-id': session.id,
        ...(tool === null ? {} : { 'com.pulsemcp/tool-name': tool }),
        ...(context ? { 'com.pulsemcp/context': context } : {}),
        ...(expiresAt ? { 'com.pulsemcp/expires-at': expiresAt.toISOString() } : {}),
      },
    }),
  })
  if (response.status !== 201) throw new Error(`POST answered ${response.status}: ${await response.text()}`)
  return id
}

/** One poll, held for up to `waitSeconds`. */
export async function poll(
  house: House,
  requestId: string,
  waitSeconds = 20,
): Promise<{ action: string; content: Answer }> {
  const response = await fetch(`${house.url}/api/v1/elicitations/${requestId}?wait=${waitSeconds}`)
  return (await response.json()) as { action: string; content: Answer }
}

/** Answers as another surface would. */
export async function respond(
  house: House,
  requestId: string,
  action: string,
  body: object = {},
  key = house.adminKey,
): Promise<void> {
  const response = await fetch(`${house.url}/api/v1/elicitations/${requestId}/respond`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ action_type: action, ...body }),
  })
  if (!response.ok) throw new Error(`PATCH answered ${response.status}: ${await response.text()}`)
}

export const confirmSchema = {
  type: 'object',
  properties: {
    confirm: { type: 'boolean', title: 'Delete the tenant?', description: 'This cannot be undone.' },
  },
  required: ['confirm'],
}
