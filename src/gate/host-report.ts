import { makeVisible, truncate } from '../base/text.ts'
import type { Queryable } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { Actor } from '../events/event.ts'
import type { JournalEntry } from '../events/journal.ts'
import { withoutToken } from './address.ts'

/** A probe that a runner made from the host that its agent runs on. */
export interface GateReport {
  host: string
  url: string
  reachable: boolean
  detail: string | null
}

export interface RecordedReport extends GateReport {
  checkedAt: Date
}

const detailCharactersMax = 300
/** Hosts that are listed. More agents' hosts than that are read from the timeline. */
const hostsListedMax = 100
/** A host that has not reported for this long runs no agents any more. */
export const hostForgottenMs = 24 * 60 * 60_000

/** A report as it is kept and shown: text made visible, and no token in the address. */
export function readReport({ host, url, reachable, detail }: GateReport, checkedAt: Date): RecordedReport {
  return {
    host: makeVisible(host),
    url: withoutToken(makeVisible(url)),
    reachable,
    detail: detail === null ? null : truncate(makeVisible(detail), detailCharactersMax),
    checkedAt,
  }
}

/** Keeps a report, and writes `gate.reported` when it says something else than the host's last one. */
export async function recordReport(
  entry: JournalEntry,
  sessionId: string,
  { host, url, reachable, detail, checkedAt }: RecordedReport,
  actor: Actor,
): Promise<void> {
  const [before] = await entry.query<RecordedReport>(
    sql`select url, reachable, detail, checked_at from gate_report where host = ${host} for update`,
  )
  await entry.query(sql`
    insert into gate_report (host, url, reachable, detail, checked_at)
    values (${host}, ${url}, ${reachable}, ${detail}, ${checkedAt})
    on conflict (host) do update set url = excluded.url, reachable = excluded.reachable, detail = excluded.detail,
      checked_at = excluded.checked_at`)
  if (before?.url === url && before.reachable === reachable && before.detail === detail) return
  entry.append({
    type: 'gate.reported',
    sessionId,
    actor,
    data: { host, url, reachable, detail },
    at: checkedAt,
  })
}

/** The latest report of each host, newest first. */
export function listReports(on: Queryable, since: Date): Promise<RecordedReport[]> {
  return on.query<RecordedReport>(sql`
    select host, url, reachable, detail, checked_at from gate_report where checked_at > ${since}
    order by checked_at desc limit ${hostsListedMax}`)
}

/** What the host of a session's process reported last. */
export async function findReportFor(on: Queryable, sessionId: string): Promise<RecordedReport | null> {
  const [report] = await on.query<RecordedReport>(sql`
    select r.host, r.url, r.reachable, r.detail, r.checked_at from session s join gate_report r on r.host = s.process_host
    where s.id = ${sessionId}`)
  return report ?? null
}

export async function forgetHosts(on: Queryable, before: Date): Promise<void> {
  await on.query(sql`delete from gate_report where checked_at < ${before}`)
}
