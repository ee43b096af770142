import { z } from 'zod'
import { sees } from '../auth/identity.ts'
import { NotFoundError } from '../base/refusal.ts'
import { findSessionId } from '../elicitation/ask.ts'
import { listPending } from '../elicitation/pending.ts'
import { asText, describeElicitation } from './describe.ts'
import type { DeskContext } from './desk-context.ts'
import { refusalError } from './refusal-error.ts'
import { defineTool, toolResult } from './tool.ts'

const limitDefault = 20
const limitMax = 50

export const listPendingElicitations = defineTool({
  name: 'list_pending_elicitations',
  title: 'List what waits for a person',
  description: 'Lists the requests that wait for a person, the soonest deadline first.',
  input: z.strictObject({
    session_id: z.string().optional().describe('Only of this session, by its id or slug.'),
    limit: z
      .number()
      .int()
      .min(1)
      .max(limitMax)
      .default(limitDefault)
      .describe(`At most this many, up to ${limitMax}.`),
  }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  async run({ desk, presence, identity }: DeskContext, { session_id, limit }) {
    const { journal } = desk
    const wanted = session_id === undefined ? null : await findSessionId(journal.database, session_id)
    if (session_id !== undefined && (wanted === null || !sees(identity, wanted)))
      return refusalError(
        new NotFoundError('There is no such session. Check its id, or leave session_id out.'),
      )
    const { elicitations, totalCount } = await listPending(journal, {
      sessionId: wanted ?? identity.sessionId,
      limit,
    })
    const data = {
      total_count: totalCount,
      elicitations: elicitations.map((row) => describeElicitation(row, presence)),
    }
    if (totalCount === 0) return toolResult('Nothing waits for a person.', data)
    const shown = elicitations.length < totalCount ? `, the first ${elicitations.length} of them here` : ''
    return toolResult(
      asText(
        `${totalCount} ${totalCount === 1 ? 'request waits' : 'requests wait'} for a person${shown}.`,
        data,
      ),
      data,
    )
  },
})
