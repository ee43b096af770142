import { hostname } from 'node:os'
import { basename } from 'node:path'
import { startOf } from '../runner/processes.ts'
import type { Runtime } from '../runner/runtime.ts'
import { type Api, succeeded } from './api.ts'
import {
  type CreateSessionData,
  createSessionDocument,
  type FailSessionData,
  failSessionDocument,
  type LaunchedSession,
  type ResumeSessionData,
  resumeSessionDocument,
} from './documents.ts'
import { findSession } from './launch.ts'
import { Problem } from './problem.ts'

/** The kernel's clock and ours may differ a little about when a process was started. */
const sameStartMs = 5_000

export interface RunSession {
  /** An id or a slug; undefined for a new session. */
  session?: string
  title?: string
}

/** The session that an agent is to run in: a new one, which waits, or one that is there and whose agent does not run. */
export async function sessionFor(
  api: Api,
  { session: reference, title }: RunSession,
  { command, runtime, cwd }: { command: string[]; runtime: Runtime; cwd: string },
): Promise<LaunchedSession> {
  if (reference === undefined) {
    const input = {
      title: title ?? `${basename(command[0]!)} in ${basename(cwd) || cwd}`,
      runtime: runtime.toUpperCase(),
      workingDirectory: cwd,
    }
    return succeeded((await api.request<CreateSessionData>(createSessionDocument, { input })).createSession)
      .session
  }
  const session = await findSession(api, reference)
  if (session.status === 'ARCHIVED')
    throw new Problem(
      `The session ${session.slug} is archived. Unarchive it first, or leave --session out to create another one.`,
    )
  const { process: known } = session
  if (known && (known.alive || isOrphaned(known)))
    throw new Problem(
      `An agent of the session ${session.slug} still runs on ${known.host}${known.pid === null ? '' : ` (process ${known.pid})`}. Pause the session to end it, and run this again.`,
    )
  // A session that is blocked is for the server to judge, before anything is prepared for it.
  if (!session.blockedOnElicitation) return session
  return resume(api, session.id)
}

/** An agent of this machine that has outlived its runner. Its number alone says little: it may be another process's by now. */
function isOrphaned({ host, pid, startedAt, endedAt }: NonNullable<LaunchedSession['process']>): boolean {
  if (host !== hostname() || pid === null || startedAt === null || endedAt !== null) return false
  const start = startOf(pid)
  return start !== null && Math.abs(start.getTime() - Date.parse(startedAt)) < sameStartMs
}

export async function resume(api: Api, id: string): Promise<LaunchedSession> {
  const { resumeSession } = await api.request<ResumeSessionData>(resumeSessionDocument, { id })
  return succeeded<{ session: LaunchedSession }>(resumeSession).session
}

/** Nothing runs, or not for long: the session must not look as if something did. */
export async function fail(api: Api, id: string, reason: string): Promise<void> {
  // What is being reported is told to the person in any case.
  await api.request<FailSessionData>(failSessionDocument, { id, reason }).catch(() => undefined)
}
