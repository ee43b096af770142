import { expect, vi } from 'vitest'
import type { TestClient } from '../../support/server.ts'

export interface SeenSession {
  id: string
  slug: string
  title: string
  status: string
  runtime: string
  blockedOnElicitation: boolean
  failureReason: string | null
  lostElicitation: { reason: string } | null
  workingDirectory: string | null
  process: {
    host: string
    pid: number
    alive: boolean
    exitCode: number | null
    signal: string | null
  } | null
  pendingElicitations: {
    requestId: string
    toolName: string | null
    serverName: string | null
    message: string
  }[]
}

/** The newest sessions, as their pages show them. */
async function newestSessions(server: TestClient): Promise<SeenSession[]> {
  const { sessions } = await server.graphql(`{ sessions(first: 20) { edges { node {
    id slug title status runtime blockedOnElicitation failureReason lostElicitation { reason } workingDirectory
    process { host pid alive exitCode signal } pendingElicitations { requestId toolName serverName message } } } } }`)
  return sessions.edges.map(({ node }: { node: SeenSession }) => node)
}

/** The newest session; of one project, where tests run beside each other. */
export async function newestSession(server: TestClient, folder?: string): Promise<SeenSession | undefined> {
  return (await newestSessions(server)).find(
    ({ workingDirectory }) => folder === undefined || workingDirectory === folder,
  )
}

/** The newest session that is as expected, once there is one. */
export async function sessionThat(
  server: TestClient,
  isAsExpected: (session: SeenSession) => boolean,
): Promise<SeenSession> {
  return vi.waitFor(
    async () => {
      const seen = (await newestSessions(server)).find(isAsExpected)
      if (!seen) throw new Error('there is no such session')
      return seen
    },
    { timeout: 60_000 },
  )
}

export async function command(server: TestClient, name: string, id: string, more = ''): Promise<string> {
  const data = await server.graphql(
    `mutation($id: ID!) { ${name}(id: $id${more}) { __typename ... on UserError { message } } }`,
    { id },
  )
  return data[name].__typename
}

export async function accept(server: TestClient, requestId: string): Promise<void> {
  const { respondToElicitation } = await server.graphql(
    `mutation($input: RespondToElicitationInput!) { respondToElicitation(input: $input) { __typename } }`,
    { input: { requestId, action: 'ACCEPT' } },
  )
  expect(respondToElicitation.__typename).toBe('RespondToElicitationSuccess')
}

/** The events of a session, oldest first. */
export async function timeline(
  server: TestClient,
  id: string,
): Promise<{ type: string; data: any; actor: any }[]> {
  const { session } = await server.graphql(
    `query($id: ID) { session(id: $id) { timeline(last: 100) { edges { node { type data actor { kind name role } } } } } }`,
    { id },
  )
  return session.timeline.edges.map(({ node }: { node: any }) => node)
}
