import { z } from 'zod'
import { sees } from '../auth/identity.ts'
import { NotFoundError } from '../base/refusal.ts'
import { asText, describeElicitation } from './describe.ts'
import type { DeskContext } from './desk-context.ts'
import { refusalError } from './refusal-error.ts'
import { defineTool, toolResult } from './tool.ts'

export const getElicitation = defineTool({
  name: 'get_elicitation',
  title: 'Look at a request',
  description: 'Shows one request: what it asks, its form, its deadline, and how it ended.',
  input: z.strictObject({ request_id: z.string().describe('The request id, or the id of Holdpoint.') }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  async run({ desk, presence, identity }: DeskContext, { request_id }) {
    const row = await desk.requests.byEither(request_id)
    if (!row || !sees(identity, row.sessionId))
      return refusalError(
        new NotFoundError(
          'There is no such request. Check the id; list_pending_elicitations shows what is pending.',
        ),
      )
    const data = describeElicitation(row, presence)
    return toolResult(asText(`Request ${row.requestId}: ${row.status}.`, data), data)
  },
})
