import { callTool, connectHttp } from './mcp.ts'
import { adminKey, type TestServer } from './server.ts'

export interface Verdict {
  /** The status that the caller was told, or the code of the refusal. */
  outcome: string
  /** What a refusal says of the answer that won. */
  won?: { status: string; respondedBy: string | null; respondedAt: string | null }
  fields?: Record<string, string[]>
}

export interface AnswerGiven {
  requestId: string
  action: 'accept' | 'decline' | 'cancel'
  content?: unknown
  note?: string
  key?: string
}

/** A door by which an answer comes in. Each says the same of the same answer. */
export interface Door {
  name: string
  answer(server: TestServer, given: AnswerGiven): Promise<Verdict>
}

const rest: Door = {
  name: 'REST',
  async answer(server, { requestId, action, content, note, key = adminKey }) {
    const { status, body } = await server.rest('PATCH', `/api/v1/elicitations/${requestId}/respond`, {
      key,
      body: { action_type: action, content, note },
    })
    if (status === 200) return { outcome: body.action }
    const won =
      body.code === 'ALREADY_RESOLVED'
        ? { status: body.status, respondedBy: body.respondedBy, respondedAt: body.respondedAt }
        : undefined
    return { outcome: body.code, ...(won ? { won } : {}), ...(body.fields ? { fields: body.fields } : {}) }
  },
}

const codes: Record<string, string> = {
  AlreadyResolvedError: 'ALREADY_RESOLVED',
  ExpiredError: 'EXPIRED',
  InvalidContentError: 'INVALID_CONTENT',
  InvalidInputError: 'INVALID_INPUT',
  NotFoundError: 'NOT_FOUND',
  SelfApprovalError: 'SELF_APPROVAL',
}

const graphql: Door = {
  name: 'GraphQL',
  async answer(server, { requestId, action, content, note, key = adminKey }) {
    const { body } = await server.graphqlRaw(
      `mutation($input: RespondToElicitationInput!) { respondToElicitation(input: $input) {
        __typename
        ... on RespondToElicitationSuccess { elicitation { status } }
        ... on AlreadyResolvedError { status respondedAt respondedBy { name } }
        ... on InvalidContentError { fields { name message } } } }`,
      { input: { requestId, action: action.toUpperCase(), content, note } },
      key,
    )
    if (body.errors) return { outcome: body.errors[0].extensions.code }
    const result = body.data.respondToElicitation
    if (result.elicitation) return { outcome: result.elicitation.status.toLowerCase() }
    const outcome = codes[result.__typename]!
    if (outcome === 'ALREADY_RESOLVED')
      return {
        outcome,
        won: {
          status: result.status.toLowerCase(),
          respondedBy: result.respondedBy?.name ?? null,
          respondedAt: result.respondedAt,
        },
      }
    if (outcome === 'INVALID_CONTENT') {
      const fields: Record<string, string[]> = {}
      for (const { name, message } of result.fields) fields[name] = [...(fields[name] ?? []), message]
      return { outcome, fields }
    }
    return { outcome }
  },
}

const mcp: Door = {
  name: 'MCP',
  async answer(server, { requestId, action, content, note, key = adminKey }) {
    const client = await connectHttp(server, key).catch((error: { code?: number }) => {
      if (error.code === 401) return null
      throw error
    })
    if (!client) return { outcome: 'UNAUTHENTICATED' }
    const { isError, text, data } = await callTool(client, 'respond_to_elicitation', {
      request_id: requestId,
      action_type: action,
      content,
      note,
    })
    await client.close()
    if (!isError) return { outcome: data.action }
    const outcome = data?.code ?? text.split(':')[0]
    if (outcome === 'ALREADY_RESOLVED')
      return {
        outcome,
        won: { status: data.status, respondedBy: data.responded_by, respondedAt: data.responded_at },
      }
    return { outcome, ...(data?.fields ? { fields: data.fields } : {}) }
  },
}

export const doors: Door[] = [rest, graphql, mcp]
