import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { expect } from 'vitest'
import { adminKey, type TestServer } from './server.ts'

/** The official SDK's own client. */
export async function connectMcp(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport)
  return client
}

/** On the HTTP endpoint of a server. */
export function connectHttp(server: Pick<TestServer, 'url'>, key: string = adminKey): Promise<Client> {
  return connectMcp(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
      requestInit: { headers: { 'x-api-key': key } },
    }),
  )
}

/** What an agent's side is given: a key that is bound to its session. */
export async function boundKey(server: TestServer, sessionId: string): Promise<string> {
  const { createApiKey } = await server.graphql(
    `mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { ... on CreateApiKeySuccess { secret } } }`,
    { input: { name: 'the agent', role: 'VIEWER', sessionId } },
  )
  return createApiKey.secret
}

/** Until something has happened that takes the start of a process, on a machine that is busy. */
export const patienceMs = 25_000

export interface ToolOutcome {
  text: string
  isError: boolean
  data: any
}

export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
  options: Parameters<Client['callTool']>[2] = {},
): Promise<ToolOutcome> {
  const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 110_000, ...options })
  const [block] = result.content as { type: string; text: string }[]
  return { text: block?.text ?? '', isError: result.isError === true, data: result.structuredContent }
}

export interface Pending {
  id: string
  requestId: string
  message: string
  toolName: string | null
  serverName: string | null
  context: string | null
  mode: string
  url: string | null
  requestedSchema: any
  meta: any
}

/** The requests of a session that wait, as soon as there are so many. */
export async function pendingOf(server: TestServer, sessionId: string, count = 1): Promise<Pending[]> {
  let found: Pending[] = []
  await expect
    .poll(
      async () => {
        const { session } = await server.graphql(
          `query($id: ID!) { session(id: $id) { pendingElicitations {
          id requestId message toolName serverName context mode url requestedSchema meta } } }`,
          { id: sessionId },
        )
        found = session.pendingElicitations
        return found.length
      },
      { timeout: patienceMs },
    )
    .toBe(count)
  return found
}

/** The one that waits, as soon as it does. */
export async function onePendingOf(server: TestServer, sessionId: string): Promise<Pending> {
  return (await pendingOf(server, sessionId))[0]!
}

export async function respond(
  server: TestServer,
  requestId: string,
  answer: Record<string, unknown>,
): Promise<void> {
  const { status, body } = await server.rest('PATCH', `/api/v1/elicitations/${requestId}/respond`, {
    key: adminKey,
    body: answer,
  })
  expect(body).toMatchObject({ action: answer.action_type })
  expect(status).toBe(200)
}

/** How a request ended: its status and its cause, as soon as it has. */
export async function endOf(
  server: TestServer,
  requestId: string,
): Promise<{ status: string; cause: string | null }> {
  let end = { status: 'PENDING', cause: null as string | null }
  await expect
    .poll(
      async () => {
        const { elicitation } = await server.graphql(
          `query($r: String!) { elicitation(requestId: $r) { status cause } }`,
          { r: requestId },
        )
        end = elicitation
        return end.status
      },
      { timeout: patienceMs },
    )
    .not.toBe('PENDING')
  return end
}
