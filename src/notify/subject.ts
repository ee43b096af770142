import type { Queryable } from '../database/database.ts'
import type { Cause, ElicitationStatus, SessionStatus } from '../database/generated/prisma/enums.ts'
import { sql } from '../database/sql.ts'

/** What a notification is about, as it is now. */
export interface Subject {
  /** When it happened. */
  at: Date
  session: SessionSubject | null
  elicitation: ElicitationSubject | null
  gate: GateSubject | null
}

export interface SessionSubject {
  id: string
  slug: string
  title: string
  status: SessionStatus
  blocked: boolean
  needsInputSince: Date | null
  failureReason: string | null
}

export interface ElicitationSubject {
  id: string
  toolName: string | null
  serverName: string | null
  message: string
  expiresAt: Date
  status: ElicitationStatus
  cause: Cause | null
}

export interface GateSubject {
  url: string
  detail: string
  checkedAt: string
}

type Row = { at: Date; type: string; data: Record<string, unknown> } & {
  [name in keyof SessionSubject as `s${Capitalize<name>}`]: SessionSubject[name] | null
} & { [name in keyof ElicitationSubject as `q${Capitalize<name>}`]: ElicitationSubject[name] | null }

/** The subject of an event, or null when the event has been erased. */
export async function findSubject(on: Queryable, eventCursor: bigint): Promise<Subject | null> {
  const [row] = await on.query<Row>(sql`
    select e.at, e.type, e.data,
      s.id as s_id, s.slug as s_slug, s.title as s_title, s.status as s_status, s.blocked_on_elicitation as s_blocked,
      s.needs_input_since as s_needs_input_since, s.failure_reason as s_failure_reason,
      q.id as q_id, q.tool_name as q_tool_name, q.server_name as q_server_name, q.message as q_message,
      q.expires_at as q_expires_at, q.status as q_status, q.cause as q_cause
    from event e left join session s on s.id = e.session_id left join elicitation q on q.id = e.elicitation_id
    where e.cursor = ${eventCursor}`)
  if (!row) return null
  return {
    at: row.at,
    session:
      row.sId === null
        ? null
        : {
            id: row.sId,
            slug: row.sSlug!,
            title: row.sTitle!,
            status: row.sStatus!,
            blocked: row.sBlocked!,
            needsInputSince: row.sNeedsInputSince,
            failureReason: row.sFailureReason,
          },
    elicitation:
      row.qId === null
        ? null
        : {
            id: row.qId,
            toolName: row.qToolName,
            serverName: row.qServerName,
            message: row.qMessage!,
            expiresAt: row.qExpiresAt!,
            status: row.qStatus!,
            cause: row.qCause,
          },
    gate: row.type.startsWith('gate.')
      ? { url: String(row.data.url), detail: String(row.data.detail), checkedAt: String(row.data.checkedAt) }
      : null,
  }
}
