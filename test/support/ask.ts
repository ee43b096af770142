import { randomUUID } from 'node:crypto'
import type { RestResponse, TestClient } from './server.ts'

export const confirmSchema = {
  type: 'object',
  properties: { confirm: { type: 'boolean', title: 'Delete it?' } },
  required: ['confirm'],
}

export function requestId(): string {
  return randomUUID()
}

export interface TestSession {
  id: string
  slug: string
}

/** A running session. */
export async function createSession(
  server: TestClient,
  { start = true, title = 'A test' } = {},
): Promise<TestSession> {
  const { createSession } = await server.graphql(
    `mutation($input: CreateSessionInput!) { createSession(input: $input) { ... on CreateSessionSuccess { session { id slug } } } }`,
    { input: { title, start } },
  )
  return createSession.session
}

/** What an MCP server with the fallback client sends. */
export function post(
  server: TestClient,
  session: string,
  { id = requestId(), message = 'Delete the tenant acme?', meta = {}, ...more }: Record<string, unknown> = {},
  path = '/api/v1/elicitations',
): Promise<RestResponse> {
  return server.rest('POST', path, {
    body: {
      mode: 'form',
      message,
      ...more,
      _meta: {
        'com.pulsemcp/request-id': id,
        'com.pulsemcp/session-id': session,
        'com.pulsemcp/tool-name': 'delete_tenant',
        ...(meta as object),
      },
    },
  })
}
