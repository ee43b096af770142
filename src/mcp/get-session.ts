import { z } from 'zod'
import { sees } from '../auth/identity.ts'
import { unknownSession } from '../base/refusal.ts'
import type { Session } from '../database/generated/prisma/client.ts'
import { sql } from '../database/sql.ts'
import { findSessionId } from '../elicitation/ask.ts'
import { listPending } from '../elicitation/pending.ts'
import { asText, describeSession } from './describe.ts'
import type { DeskContext } from './desk-context.ts'
import { refusalError } from './refusal-error.ts'
import { defineTool, toolResult } from './tool.ts'

const pendingShownMax = 50

export const getSession = defineTool({
  name: 'get_session',
  title: 'Look at a session',
  description: 'Shows one run of an agent: its state, what it waits for, and what it lost.',
  input: z.strictObject({ session_id: z.string().describe('The id or the slug of the session.') }),
  annotations: { readOnlyHint: true, openWorldHint: false },
  async run({ desk, identity }: DeskContext, { session_id }) {
    const { journal } = desk
    const id = await findSessionId(journal.database, session_id)
    const [row] =
      id === null || !sees(identity, id)
        ? []
        : await journal.database.query<Session>(sql`select * from session where id = ${id}`)
    if (!row) return refusalError(unknownSession())
    const { elicitations } = await listPending(journal, { sessionId: row.id, limit: pendingShownMax })
    const data = describeSession(
      row,
      elicitations.map(({ requestId }) => requestId),
    )
    return toolResult(asText(`Session ${row.id}: ${row.status}.`, data), data)
  },
})
