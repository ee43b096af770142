import { isUuid, newId } from '../base/ids.ts'
import { limitVariable } from '../base/limits.ts'
import {
  ForbiddenError,
  type Refusal,
  RequestIdTakenError,
  SessionArchivedError,
  TooManyError,
} from '../base/refusal.ts'
import { makeSchemaVisible, makeVisible } from '../base/text.ts'
import { isConflict } from '../database/conflict.ts'
import type { Queryable } from '../database/database.ts'
import type { Mode } from '../database/generated/prisma/enums.ts'
import { sql } from '../database/sql.ts'
import { mcpServerActor } from '../events/event.ts'
import type { LockedSession } from '../session/locked-session.ts'
import { underLock } from '../session/under-lock.ts'
import { deadline } from './deadline.ts'
import { type Desk, type Elicitation, findByRequestId } from './elicitation.ts'

/** A question as it came in: parsed, its texts not yet made visible. */
export interface Question {
  requestId: string
  mode: Mode
  message: string
  requestedSchema: Record<string, unknown>
  meta: Record<string, unknown>
  toolName: string | null
  context: string | null
  url: string | null
  /** The requester's own id of a url-mode request. */
  elicitationId: string | null
  /** The deadline it asks for; anything that is not a timestamp counts as absent. */
  expiresAt: unknown
}

/** Where a question came in: what bounds it, and what is known of who asks. */
export interface Source {
  /** The capability address, when it came in on one. */
  gateTokenId: string | null
  /** The capability address has ended: it takes nothing new, and answers for what it took. */
  hasEnded?: boolean
  callerAddress: string | null
  serverName: string | null
}

export interface Asked {
  elicitation: Elicitation
  /** False for the same request again, after a lost response. */
  created: boolean
}

/** The id behind a session's id or slug. What looks like an id is one: the lock will tell whether it is known. */
export async function findSessionId(on: Queryable, reference: string): Promise<string | null> {
  if (isUuid(reference)) return reference
  if (reference.includes('\0')) return null
  const [row] = await on.query<{ id: string }>(sql`select id from session where slug = ${reference}`)
  return row?.id ?? null
}

/**
 * Puts a question to whoever watches the session: the row, the session's block and their events in one transaction.
 *
 * The same request again (id, session, message, schema) is the first one's answer again, whatever has become of the
 * session, until its final answer has been delivered. From then on the id is taken: an old approval is never handed
 * to a new action.
 */
export async function ask(
  desk: Desk,
  sessionId: string,
  question: Question,
  source: Source,
): Promise<Asked | Refusal> {
  const { journal } = desk
  const wanted = visible(question)
  const actor = mcpServerActor(source.serverName)
  // Whoever answers names a request by either id: one that is called like another would be answered in its place.
  if (await desk.requests.byId(wanted.requestId)) return taken(wanted.requestId)
  const attempt = (isTaken: boolean) =>
    underLock<Asked | Refusal>(journal, sessionId, async (session, entry) => {
      const refusal = refusalOf(session, source, desk)
      if (!refusal && !isTaken) {
        const elicitation = create(desk, session, wanted, source)
        insert(entry, elicitation)
        session.add(elicitation, actor, {
          toolName: elicitation.toolName,
          ...(source.serverName === null ? {} : { serverName: source.serverName }),
        })
        session.keepInStep(actor)
        return { elicitation, created: true }
      }
      const earlier = await findByRequestId(entry, wanted.requestId)
      if (earlier) return sameAgain(earlier, session.row.id, wanted, source) ?? taken(wanted.requestId)
      if (refusal) return refusal
      throw new Error(`the request id ${wanted.requestId} conflicts with a row that is not there`)
    })
  try {
    return await attempt(false)
  } catch (error) {
    // Found out with the commit: that an id is new is the rule, and asking first would cost every request a round trip.
    if (!isConflict(error, 'elicitation_request_id_key')) throw error
    return attempt(true)
  }
}

/**
 * What `ask` answers to the same request again; null for any other, also where its id is taken: beyond a limit nobody finds out
 * which ids there are. It takes no lock, so that whoever repeats what is known costs the others nothing.
 */
export async function askedBefore(
  desk: Desk,
  sessionId: string,
  question: Question,
  source: Source,
): Promise<Asked | Refusal | null> {
  const earlier = await desk.requests.byRequestId(question.requestId)
  return earlier && sameAgain(earlier, sessionId, visible(question), source)
}

function visible(question: Question): Question {
  return {
    ...question,
    message: makeVisible(question.message),
    toolName: question.toolName === null ? null : makeVisible(question.toolName),
    context: question.context === null ? null : makeVisible(question.context),
    requestedSchema: makeSchemaVisible(question.requestedSchema) as Record<string, unknown>,
  }
}

function refusalOf({ row, pending }: LockedSession, source: Source, { limits }: Desk): Refusal | null {
  if (source.hasEnded)
    return new ForbiddenError(
      'This address has ended with its session or was replaced. Launch the agent again to hand it a new one.',
    )
  if (row.status === 'archived')
    return new SessionArchivedError(
      `The session ${row.id} is archived: nobody would be asked. Unarchive it, or ask for another session.`,
    )
  const [limit, of] =
    source.gateTokenId === null
      ? (['pendingPerAddress', 'this address'] as const)
      : (['pendingPerToken', 'this capability address'] as const)
  const mine = pending.filter((each) =>
    source.gateTokenId === null
      ? each.gateTokenId === null && each.callerAddress === source.callerAddress
      : each.gateTokenId === source.gateTokenId,
  )
  if (mine.length < limits[limit]) return null
  return new TooManyError(
    limit,
    `${mine.length} requests from ${of} already wait in this session (${limitVariable(limit)}). Wait until one of them is answered, or withdraw one.`,
    30,
  )
}

function create(
  { journal, defaultExpirationMs }: Desk,
  session: LockedSession,
  question: Question,
  source: Source,
): Elicitation {
  const now = journal.now()
  const { requestId, mode, message, requestedSchema, meta, toolName, context, url, elicitationId } = question
  return {
    id: newId(),
    sessionId: session.row.id,
    status: 'pending',
    ...{ requestId, mode, message, toolName, context, url, elicitationId },
    requestedSchema: requestedSchema as Elicitation['requestedSchema'],
    meta: meta as Elicitation['meta'],
    serverName: source.serverName,
    gateTokenId: source.gateTokenId,
    callerAddress: source.callerAddress,
    expiresAt: deadline(now, question.expiresAt, defaultExpirationMs),
    createdAt: now,
    ...nothingYet,
  }
}

const nothingYet = {
  cause: null,
  content: null,
  note: null,
  respondedAt: null,
  respondedByName: null,
  respondedBySurface: null,
  respondedByActor: null,
  lastPolledAt: null,
  deliveredAt: null,
  forgottenAt: null,
  erasedAt: null,
}

/** Goes out with the commit. */
function insert(entry: Queryable, row: Elicitation): void {
  void entry.query(sql`
    insert into elicitation (id, request_id, session_id, mode, message, requested_schema, meta, tool_name, context, url,
      elicitation_id, server_name, gate_token_id, caller_address, expires_at, created_at)
    values (${row.id}, ${row.requestId}, ${row.sessionId}, ${row.mode}, ${row.message},
      ${JSON.stringify(row.requestedSchema)}, ${JSON.stringify(row.meta)}, ${row.toolName}, ${row.context}, ${row.url},
      ${row.elicitationId}, ${row.serverName}, ${row.gateTokenId}, ${row.callerAddress}, ${row.expiresAt}, ${row.createdAt})`)
}

/** Null where the earlier one was another request. */
function sameAgain(
  earlier: Elicitation,
  sessionId: string,
  question: Question,
  source: Source,
): Asked | Refusal | null {
  const same =
    earlier.sessionId === sessionId &&
    // It is known only at the address that it was made on.
    earlier.gateTokenId === source.gateTokenId &&
    earlier.message === question.message &&
    earlier.mode === question.mode &&
    earlier.url === question.url &&
    JSON.stringify(earlier.requestedSchema) === JSON.stringify(question.requestedSchema)
  if (!same) return null
  return earlier.deliveredAt === null
    ? { elicitation: earlier, created: false }
    : new RequestIdTakenError(
        `The request id ${earlier.requestId} was used before and its answer has been delivered. Ask again under a new id.`,
      )
}

function taken(requestId: string): RequestIdTakenError {
  return new RequestIdTakenError(
    `The request id ${requestId} belongs to another request. Ask under a new id.`,
  )
}
