import { z } from 'zod'
import { isRefusal } from '../base/refusal.ts'
import { answer } from '../elicitation/answer.ts'
import { deliveryOf } from '../elicitation/presence.ts'
import type { DeskContext } from './desk-context.ts'
import { saysNo } from './outcome-text.ts'
import { refusalError } from './refusal-error.ts'
import { defineTool, toolResult } from './tool.ts'

export const respondToElicitation = defineTool({
  name: 'respond_to_elicitation',
  title: 'Answer a request',
  description:
    'Answers a pending request on behalf of the person whose key this is. Only do what that person told you to: an answer is final and releases the action that waits for it. ' +
    'Look at the request with get_elicitation first.',
  input: z.strictObject({
    request_id: z.string().describe('The request id, or the id of Holdpoint.'),
    action_type: z
      .enum(['accept', 'decline', 'cancel'])
      .describe('accept and decline answer the question; cancel dismisses it without an answer.'),
    content: z
      .unknown()
      .meta({
        type: 'object',
        description:
          'With accept: the answers to the form, by the names of its fields. Leave it out where the form needs none.',
      })
      .optional(),
    note: z.string().optional().describe('Why not, or what instead; the agent and the timeline show it.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  async run({ desk, presence, identity, address }: DeskContext, { request_id, action_type, content, note }) {
    const target = await desk.requests.byEither(request_id)
    const result = await answer(
      desk,
      target,
      { action: action_type, content, note: note ?? null },
      identity,
      { surface: 'mcp', address },
    )
    if (isRefusal(result)) return refusalError(result)
    const kept = result.status === 'accept' ? result.content : null
    const delivery = deliveryOf(presence, result)
    const lines = [
      `Request ${result.requestId}: ${result.status}.`,
      ...(kept === null ? [] : [`Content: ${JSON.stringify(kept)}.`]),
      ...(saysNo(kept) ? ['The answer is no: the action does not go ahead.'] : []),
      ...(result.note === null ? [] : [`Note: ${result.note}`]),
      {
        delivered: 'The agent has it.',
        waiting: 'The agent is listening and gets it now.',
        no_waiter: 'It is recorded, but nobody is waiting for it right now.',
      }[delivery],
    ]
    return toolResult(lines.join('\n'), {
      request_id: result.requestId,
      id: result.id,
      action: result.status,
      content: kept,
      note: result.note,
      responded_at: result.respondedAt?.toISOString() ?? null,
      delivery,
    })
  },
})
