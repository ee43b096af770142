import { makeVisible, truncate } from '../base/text.ts'
import type { Queryable } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { Actor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'

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

/** Keeps a report, and writes `gate.reported` when it says something else than the host's last one. */
export function recordReport(
  journal: Journal,
  sessionId: string,
  report: GateReport,
  actor: Actor,
): Promise<void> {
  const host = makeVisible(report.host)
  const url = withoutToken(makeVisible(report.url))
  const detail = report.detail === null ? null : truncate(makeVisible(report.detail), detailCharactersMax)
  const { reachable } = report
  return journal.write(async (entry) => {
    const at = journal.now()
    const [before] = await entry.query<RecordedReport>(
      sql`select url, reachable, detail, checked_at from gate_report where host = ${host} for update`,
    )
    await entry.query(sql`
      insert into gate_report (host, url, reachable, detail, checked_at) values (${host}, ${url}, ${reachable}, ${detail}, ${at})
      on conflict (host) do update set url = excluded.url, reachable = excluded.reachable, detail = excluded.detail,
        checked_at = excluded.checked_at`)
    if (before?.url === url && before.reachable === reachable && before.detail === detail) return
    entry.append({ type: 'gate.reported', sessionId, actor, data: { host, url, reachable, detail }, at })
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

/** The token in a capability address is a secret: it is neither kept nor shown. */
function withoutToken(url: string): string {
  return url.replace(/(\/api\/v1\/gate\/)[^/?#]+/, '$1…')
}
