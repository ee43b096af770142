import { isDeepStrictEqual } from 'node:util'
import { actorOf, type Identity, may } from '../auth/identity.ts'
import { noteCharactersMax } from '../base/limits.ts'
import {
  AlreadyResolvedError,
  ExpiredError,
  ForbiddenError,
  InvalidContentError,
  invalidInput,
  NotFoundError,
  type Refusal,
  SelfApprovalError,
} from '../base/refusal.ts'
import { codePointLength, makeVisible } from '../base/text.ts'
import { sql } from '../database/sql.ts'
import { underLock } from '../session/under-lock.ts'
import { type Desk, type Elicitation, findById } from './elicitation.ts'
import { checkContent } from './form/check.ts'
import { parseForm } from './form/parse.ts'

export type Action = 'accept' | 'decline' | 'cancel'

/** The door that an answer came in by, as people are told. */
export type Surface = 'dashboard' | 'graphql' | 'rest' | 'mcp' | 'cli'

/** How an answer came in: by which door and, for the audit, from which network address. */
export interface Entrance {
  surface: Surface
  address: string | null
}

export interface Answer {
  action: Action
  content?: unknown
  note?: string | null
}

/**
 * A person's answer. Of any number of concurrent answers and the clock one takes effect, and every other caller is told
 * which. The same decision again by the same actor is the same success again. A refused answer leaves the request pending.
 */
export async function answer(
  desk: Desk,
  request: Elicitation | null,
  { action, content, note = null }: Answer,
  identity: Identity,
  entrance: Entrance,
): Promise<Elicitation | Refusal> {
  const refusal = await refuseAnswerer(desk, request, identity, entrance)
  if (refusal || !request) return refusal ?? unknownRequest()
  if (note !== null && codePointLength(note) > noteCharactersMax)
    return invalidInput('note', `Use at most ${noteCharactersMax} characters.`)

  const actor = actorOf(identity)
  return underLock(desk.journal, request.sessionId, async (session, entry) => {
    // What the lock itself found expired is not written yet.
    if (session.resolved.has(request.id)) return new ExpiredError(request.expiresAt)
    // What a request asks never changes: while it is pending, what was read before the lock is what it is.
    const isPending = session.pending.some(({ id }) => id === request.id)
    const current = isPending ? request : await findById(entry, request.id)
    if (!current) throw new Error(`elicitation ${request.id} vanished`)
    const kept = contentOf(current, action, content)
    if (!isPending) {
      const again =
        current.status === action &&
        current.respondedByActor === actor.id &&
        (kept instanceof InvalidContentError ? false : isDeepStrictEqual(current.content, kept.content))
      return again ? current : lostTo(current)
    }
    if (kept instanceof InvalidContentError) return kept
    const said = note?.trim() ? makeVisible(note.trim()) : null
    const cause = action === 'cancel' ? 'dismissed' : 'answered'
    session.resolve(current.id, {
      status: action,
      cause,
      actor,
      ...entrance,
      content: kept.content,
      note: said,
    })
    session.keepInStep(actor)
    session.dropLost(actor)
    return {
      ...current,
      status: action,
      cause,
      content: kept.content,
      note: said,
      respondedAt: session.now,
      respondedByName: actor.name,
      respondedBySurface: entrance.surface,
      respondedByActor: actor.id,
    } as Elicitation
  })
}

/** Why somebody may not answer a request, whatever the answer; null when they may. What is refused goes on the record. */
export async function refuseAnswerer(
  desk: Desk,
  request: Pick<Elicitation, 'id' | 'sessionId'> | null,
  identity: Identity,
  entrance: Entrance,
): Promise<Refusal | null> {
  if (!may(identity, 'answer')) {
    const refusal = refusalFor(identity, request)
    if (request) await recordRefusal(desk, request, refusal, identity, entrance)
    return refusal
  }
  return request ? null : unknownRequest()
}

function refusalFor({ name, role, sessionId }: Identity, request: { sessionId: string } | null): Refusal {
  if (sessionId === null)
    return new ForbiddenError(
      `The key ${name} has the role ${role}, which may not answer. Use a key of the role responder, operator or admin.`,
    )
  if (sessionId === request?.sessionId) return new SelfApprovalError()
  return new ForbiddenError(
    `The key ${name} is bound to a session and answers nothing. A person has to answer, with a key of their own.`,
  )
}

function unknownRequest(): Refusal {
  return new NotFoundError('There is no such request. Check the id; the queue lists what is pending.')
}

/** Only an accept of a form carries content; what comes with anything else is dropped. */
function contentOf(
  { mode, requestedSchema }: Elicitation,
  action: Action,
  content: unknown,
): { content: unknown } | InvalidContentError {
  if (action !== 'accept' || mode === 'url') return { content: null }
  const checked = checkContent(parseForm(requestedSchema), content)
  return checked.ok ? { content: checked.content } : new InvalidContentError(checked.fields)
}

/** What a caller is told whose answer came second. */
function lostTo(current: Elicitation): Refusal {
  if (current.status === 'expired') return new ExpiredError(current.expiresAt)
  return new AlreadyResolvedError({
    status: current.status,
    respondedAt: current.respondedAt,
    respondedBy:
      current.respondedByName === null
        ? null
        : { name: current.respondedByName, surface: current.respondedBySurface ?? 'system' },
  })
}

/** Once a request and credential, however often it is tried: nobody fills the timeline by being refused. */
async function recordRefusal(
  { journal }: Desk,
  request: Pick<Elicitation, 'id' | 'sessionId'>,
  { code }: Refusal,
  identity: Identity,
  entrance: Entrance,
): Promise<void> {
  await journal.write(async (entry) => {
    const earlier = await entry.query(sql`
      select 1 from event where elicitation_id = ${request.id} and type = 'elicitation.answer_refused'
        and data->>'keyId' = ${identity.id}`)
    if (earlier.length > 0) return
    entry.append({
      type: 'elicitation.answer_refused',
      sessionId: request.sessionId,
      elicitationId: request.id,
      actor: actorOf(identity),
      data: {
        code,
        surface: entrance.surface,
        keyId: identity.id,
        ...(entrance.address === null ? {} : { address: entrance.address }),
      },
      at: journal.now(),
    })
  })
}
