import { revokeKeysOf } from '../auth/keys.ts'
import { newId, newSlug } from '../base/ids.ts'
import { type FieldProblem, InvalidInputError, invalidInput, type Refusal } from '../base/refusal.ts'
import { makeVisible } from '../base/text.ts'
import type { Session } from '../database/generated/prisma/client.ts'
import type { Runtime } from '../database/generated/prisma/enums.ts'
import { sql } from '../database/sql.ts'
import type { Actor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import { endGateTokens } from '../gate/token.ts'
import type { SessionEvent } from './lifecycle.ts'
import { LockedSession } from './locked-session.ts'
import { saveSessions, underLock } from './under-lock.ts'

export interface NewSession {
  title: string
  /** The words of the slug; six random characters are put behind them, as no one may guess a slug. */
  slug?: string | null
  runtime?: Runtime | null
  workingDirectory?: string | null
  metadata?: unknown
  start?: boolean | null
}

const titleCharactersMax = 200
const slugCharactersMax = 60
const workingDirectoryCharactersMax = 4_096
const metadataBytesMax = 64 * 1024
const reasonCharactersMax = 2_000

/** Creates a session, waiting or (with `start`) running. */
export async function createSession(
  journal: Journal,
  input: NewSession,
  actor: Actor,
): Promise<Session | Refusal> {
  const problems = problemsOf(input)
  if (problems.length > 0) return new InvalidInputError(problems)
  const now = journal.now()
  const title = makeVisible(input.title.trim())
  const created = {
    id: newId(),
    slug: newSlug(input.slug?.trim() || title),
    title,
    runtime: input.runtime ?? 'other',
    workingDirectory: input.workingDirectory?.trim() || null,
    metadata: JSON.stringify(input.metadata ?? {}),
  }
  return journal.write(async (entry) => {
    const [row] = await entry.query<Session>(sql`
      insert into session (id, slug, title, status, runtime, working_directory, metadata, created_at, updated_at)
      values (${created.id}, ${created.slug}, ${created.title}, 'waiting', ${created.runtime}, ${created.workingDirectory},
        ${created.metadata}, ${now}, ${now})
      returning *`)
    const session = new LockedSession(row!, [], now)
    session.note('session.created', actor, { title: created.title, runtime: created.runtime })
    if (input.start) session.apply('start', actor)
    saveSessions(entry, [session])
    return session.row
  })
}

function problemsOf({ title, slug, workingDirectory, metadata }: NewSession): FieldProblem[] {
  const problems: FieldProblem[] = []
  const refuse = (name: string, message: string) => problems.push({ name, messages: [message] })
  if (title.trim() === '') refuse('title', 'Give the session a title.')
  if (title.length > titleCharactersMax) refuse('title', `Use at most ${titleCharactersMax} characters.`)
  if (
    slug?.trim() &&
    !(slug.length <= slugCharactersMax && /^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$/.test(slug.trim()))
  )
    refuse('slug', `Use letters, digits and single hyphens, at most ${slugCharactersMax} characters.`)
  if (
    workingDirectory &&
    (workingDirectory.length > workingDirectoryCharactersMax || workingDirectory.includes('\0'))
  )
    refuse('workingDirectory', `Use a path of at most ${workingDirectoryCharactersMax} characters.`)
  if (metadata !== undefined && Buffer.byteLength(JSON.stringify(metadata) ?? '') > metadataBytesMax)
    refuse('metadata', 'Use at most 64 KiB of JSON.')
  return problems
}

/**
 * A command of the lifecycle, given by somebody: start, pause, resume, sleep, fail, archive or unarchive.
 * Blocking and unblocking are nobody's command; they follow the elicitations.
 */
export async function commandSession(
  journal: Journal,
  sessionId: string,
  event: Exclude<SessionEvent, 'block_on_elicitation' | 'unblock_from_elicitation'>,
  actor: Actor,
  { reason = null }: { reason?: string | null } = {},
): Promise<Session | Refusal> {
  if (event === 'fail' && !reason?.trim()) return invalidInput('reason', 'Say why the session failed.')
  const kept = reason === null ? null : makeVisible(reason.trim()).slice(0, reasonCharactersMax)
  return underLock(journal, sessionId, async (session, entry) => {
    // A marker that nothing pending stands behind would refuse a resume for minutes, until the sweep comes.
    if (event === 'resume') session.strand(null, actor)
    const refusal = session.apply(event, actor, { reason: kept })
    if (refusal) return refusal
    if (event === 'start' || event === 'unarchive') session.keepInStep(actor)
    if (event === 'archive') {
      await endGateTokens(entry, sessionId, actor, session.now)
      await revokeKeysOf(entry, sessionId, actor, session.now)
    }
    return session.row
  })
}
