import { beforeAllIds } from '../base/ids.ts'
import { sql } from '../database/sql.ts'
import { type Actor, sweepActor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import { failureOf, processAliveMs } from './process.ts'
import { lockSessions, saveSessions } from './under-lock.ts'

/**
 * A silence is no proof: a closed laptop and a broken network look the same as a dead machine, and their agent comes back
 * and wants its answer. After this long, with no poll either, nobody expects it to.
 */
const processGoneMs = 30 * 60_000

const batchSize = 200

/**
 * Notices runners that have fallen silent while their session counts on them: `process.lost`, once for each silence. The
 * session stays as it is; the page says that its process has not been heard of.
 * @param listeningSince since when this server could have heard a heartbeat: a silence of its own making is nobody's.
 * @returns the ids of the sessions.
 */
export async function noticeLostProcesses(
  journal: Journal,
  listeningSince: Date,
  stopping?: AbortSignal,
  actor: Actor = sweepActor,
): Promise<string[]> {
  const now = journal.now()
  const silentSince = new Date(now.getTime() - processAliveMs)
  if (listeningSince > silentSince) return []
  const lost: string[] = []
  while (!stopping?.aborted) {
    const noticed = await journal.write(async (entry) => {
      const sessions = await entry.query<{
        id: string
        host: string
        pid: number | null
        lastSeenAt: Date
      }>(sql`
        update session set process_lost_at = ${now} where id in (
          select id from session
          where process_host is not null and process_ended_at is null and process_lost_at is null
            and process_last_seen_at <= ${silentSince} and (status = 'running' or blocked_on_elicitation)
          order by id limit ${batchSize} for update skip locked)
        returning id, process_host as host, process_pid as pid, process_last_seen_at as last_seen_at`)
      for (const { id, ...process } of sessions)
        entry.append({ type: 'process.lost', sessionId: id, actor, data: process, at: now })
      return sessions.map(({ id }) => id)
    })
    if (noticed.length === 0) break
    lost.push(...noticed)
  }
  return lost
}

/**
 * Gives up on the agents of blocked sessions that neither a heartbeat nor a poll has been heard of for half an hour, as if
 * their process had exited with an unknown code: what was pending is cancelled, and the session fails with a reason that names
 * the request nobody answered. Otherwise an answer would make it a running session that nothing runs.
 * @param listeningSince since when this server could have heard either: who is alive is given the time to say so.
 * @returns the ids of the sessions that it failed.
 */
export async function giveUpLostProcesses(
  journal: Journal,
  listeningSince: Date,
  stopping?: AbortSignal,
  actor: Actor = sweepActor,
): Promise<string[]> {
  const now = journal.now()
  if (now.getTime() - listeningSince.getTime() < processAliveMs) return []
  const failed: string[] = []
  const goneSince = new Date(now.getTime() - processGoneMs)
  let after = beforeAllIds
  while (!stopping?.aborted) {
    const found = await journal.database.query<{ id: string }>(sql`
      select id from session where process_host is not null and process_ended_at is null
        and process_lost_at <= ${goneSince} and process_last_seen_at <= ${goneSince} and blocked_on_elicitation and id > ${after}
      order by id limit ${batchSize}`)
    if (found.length === 0) break
    after = found.at(-1)!.id
    const ids = found.map(({ id }) => id)
    await journal.write(async (entry) => {
      const sessions = await lockSessions(journal, entry, ids)
      // Looked at under the lock: the runner may be back, and the agent may have asked or polled without it.
      const heard = await entry.query<{ id: string }>(sql`
        select s.id from session s where s.id = any(${ids}::uuid[]) and (s.process_ended_at is not null or s.process_lost_at is null
          or exists (select 1 from elicitation e where e.session_id = s.id and e.status = 'pending'
            and greatest(e.created_at, e.last_polled_at) > ${goneSince}))`)
      const alive = new Set(heard.map(({ id }) => id))
      const gone = sessions.filter(({ row }) => row.blockedOnElicitation && !alive.has(row.id))
      for (const session of gone) {
        session.expireOverdue()
        session.note('process.exited', actor, { exitCode: null, signal: null })
        const what = `The agent and its host ${session.row.processHost} were not heard of for ${processGoneMs / 60_000} minutes`
        session.apply('fail', actor, { reason: failureOf(what, session) })
        failed.push(session.row.id)
      }
      await entry.query(sql`
        update session set process_ended_at = ${now} where id = any(${gone.map(({ row }) => row.id)}::uuid[])`)
      saveSessions(entry, gone)
    })
  }
  return failed
}
