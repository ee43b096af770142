import { InvalidTransitionError, NotFoundError, type Refusal, unknownSession } from '../base/refusal.ts'
import { makeVisible, summarise } from '../base/text.ts'
import type { Session } from '../database/generated/prisma/client.ts'
import { sql } from '../database/sql.ts'
import type { Actor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import type { LockedSession } from './locked-session.ts'
import { underLock } from './under-lock.ts'

/** A runner that has not been heard of for this long is taken for gone. It sends a heartbeat every 15 seconds. */
export const processAliveMs = 45_000

export interface StartedProcess {
  host: string
  pid: number
  command: string | null
  startedAt: Date
}

export interface ProcessExit {
  exitCode: number | null
  signal: string | null
  /** Which process it was; a report on another one than the registered is about the past. */
  pid: number | null
}

export function isAlive(
  {
    processHost,
    processEndedAt,
    processLastSeenAt,
  }: Pick<Session, 'processHost' | 'processEndedAt' | 'processLastSeenAt'>,
  now: Date,
): boolean {
  if (processHost === null || processEndedAt !== null || processLastSeenAt === null) return false
  return now.getTime() - processLastSeenAt.getTime() < processAliveMs
}

/** A runner has started the agent's process. A session has one process at a time; a new one replaces what was known. */
export function registerProcess(
  journal: Journal,
  sessionId: string,
  { host, pid, command, startedAt }: StartedProcess,
  actor: Actor,
): Promise<Session | Refusal> {
  return underLock(journal, sessionId, async (session, entry) => {
    const { status } = session.row
    if (status === 'archived')
      return new InvalidTransitionError(
        status,
        'register_process',
        'The session is archived: end the process, or unarchive and resume the session first.',
      )
    const process = {
      processHost: makeVisible(host),
      processPid: pid,
      processCommand: command === null ? null : makeVisible(command),
      processStartedAt: startedAt,
      processLastSeenAt: session.now,
      processEndedAt: null,
      processExitCode: null,
      processSignal: null,
      processLostAt: null,
    }
    await entry.query(sql`
      update session set process_host = ${process.processHost}, process_pid = ${pid},
        process_command = ${process.processCommand}, process_started_at = ${startedAt},
        process_last_seen_at = ${session.now}, process_ended_at = null, process_exit_code = null, process_signal = null,
        process_lost_at = null
      where id = ${sessionId}`)
    Object.assign(session.row, process)
    session.note('process.registered', actor, {
      host: process.processHost,
      pid,
      command: process.processCommand,
    })
    return session.row
  })
}

/** A sign of life. It changes nothing that anybody is told of, so it takes no lock and writes no event. */
export async function heartbeat(
  { database, now }: Journal,
  sessionId: string,
): Promise<Session | NotFoundError> {
  const [session] = await database.query<Session>(sql`
    update session set process_lost_at = null,
      process_last_seen_at = case when process_ended_at is null then ${now()} else process_last_seen_at end
    where id = ${sessionId} returning *`)
  if (!session) return unknownSession()
  if (session.processHost === null)
    return new NotFoundError('No process is registered for this session. Call registerProcess first.')
  return session
}

/**
 * The process has ended. Where the session still counted on it, an exit with 0 or by Ctrl-C ends the turn like a pause: what
 * was pending is cancelled and recorded as stranded. Any other exit fails the session, with a reason that names the
 * request nobody answered. Where the session had moved on (it was paused, so the process was ended) the exit is only noted.
 */
export function reportExit(
  journal: Journal,
  sessionId: string,
  exit: ProcessExit,
  actor: Actor,
): Promise<Session | Refusal> {
  return underLock(journal, sessionId, async (session, entry) => {
    const { row } = session
    const ofThePast = exit.pid !== null && row.processPid !== null && exit.pid !== row.processPid
    if (ofThePast || row.processEndedAt !== null) return row
    const { exitCode, signal } = exit
    await entry.query(sql`
      update session set process_ended_at = ${session.now}, process_exit_code = ${exitCode}, process_signal = ${signal}
      where id = ${sessionId}`)
    Object.assign(row, { processEndedAt: session.now, processExitCode: exitCode, processSignal: signal })
    session.note('process.exited', actor, { exitCode, signal })
    if (row.status !== 'running' && !row.blockedOnElicitation) return row
    if (endsTurn(exit)) session.apply('pause', actor)
    else session.apply('fail', actor, { reason: failureOf(howItEnded(exit), session) })
    return row
  })
}

const ctrlC = { signal: 'SIGINT', exitCode: 128 + 2 }

function endsTurn({ exitCode, signal }: ProcessExit): boolean {
  return (exitCode === 0 && signal === null) || signal === ctrlC.signal || exitCode === ctrlC.exitCode
}

function howItEnded({ exitCode, signal }: ProcessExit): string {
  if (signal !== null) return `The agent was ended by ${signal}`
  return exitCode === null ? 'The agent ended' : `The agent exited with code ${exitCode}`
}

/** Between what happened and the request that nobody answered; by this a retention finds the quotation in a reason. */
export const whileUnanswered = ' while a request was unanswered'

/** Why a session failed whose agent is gone: what happened, and the request that nobody answered. */
export function failureOf(what: string, { pending }: LockedSession): string {
  const unanswered = pending.at(-1)
  return unanswered
    ? `${what}${whileUnanswered}: ${summarise(unanswered.toolName, unanswered.message)} (${unanswered.requestId})`
    : `${what}.`
}
