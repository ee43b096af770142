import { newId } from '../base/ids.ts'
import type { Queryable } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import { systemActor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import type { ProbeResult } from './probe.ts'

/** A time during which the server could not reach its own gate. At most one is open for an address. */
export interface Incident {
  id: string
  url: string
  openedAt: Date
  closedAt: Date | null
  /** What was wrong when it opened. */
  detail: string
  pagedAt: Date | null
}

/** What a probe changed. `outdated`: a later one had already been recorded. */
export type ProbeChange = 'opened' | 'closed' | 'none' | 'outdated'

/** A page that is being sent by a process that died is sent again by another one after this. */
const pageClaimMs = 60_000

/**
 * Keeps what a probe found, and opens or closes the incident that it amounts to, with its event, in one commit. Any number
 * of servers may do so at once: the row of the address is what they queue at.
 */
export function recordProbe(
  journal: Journal,
  { url, reachable, detail, checkedAt }: ProbeResult,
): Promise<ProbeChange> {
  return journal.write(async (entry) => {
    const recorded = await entry.query(sql`
      insert into gate_probe (url, reachable, detail, checked_at) values (${url}, ${reachable}, ${detail}, ${checkedAt})
      on conflict (url) do update set reachable = excluded.reachable, detail = excluded.detail, checked_at = excluded.checked_at
        where gate_probe.checked_at <= excluded.checked_at
      returning url`)
    if (recorded.length === 0) return 'outdated'
    const at = journal.now()
    if (!reachable) {
      const [opened] = await entry.query<{ id: string }>(sql`
        insert into gate_incident (id, url, detail, opened_at) values (${newId()}, ${url}, ${detail}, ${checkedAt})
        on conflict (url) where closed_at is null do nothing returning id`)
      if (!opened) return 'none'
      entry.append({
        type: 'gate.unreachable',
        actor: systemActor,
        data: { incidentId: opened.id, url, detail, checkedAt },
        at,
      })
      return 'opened'
    }
    const [closed] = await entry.query<{ id: string; openedAt: Date }>(sql`
      update gate_incident set closed_at = ${checkedAt} where url = ${url} and closed_at is null returning id, opened_at`)
    if (!closed) return 'none'
    const { id: incidentId, openedAt } = closed
    entry.append({
      type: 'gate.recovered',
      actor: systemActor,
      data: { incidentId, url, detail, checkedAt, openedAt },
      at,
    })
    return 'closed'
  })
}

/** The incident that is open at an address, or else the latest one. */
export async function findIncident(on: Queryable, url: string): Promise<Incident | null> {
  const [incident] = await on.query<Incident>(sql`
    select id, url, opened_at, closed_at, detail, paged_at from gate_incident where url = ${url}
    order by closed_at is null desc, opened_at desc limit 1`)
  return incident ?? null
}

/**
 * Sends the page of the open incident, if nobody has: whoever gets the claim sends, so that each incident is one page however
 * many servers there are. A page that fails is left for the next probe.
 * @param send resolves to false when there is nobody to page.
 */
export async function pageOnce(
  journal: Journal,
  url: string,
  send: (incident: Incident) => Promise<boolean>,
): Promise<void> {
  const claimedAt = journal.now()
  const [incident] = await journal.database.query<Incident>(sql`
    update gate_incident set page_claimed_at = ${claimedAt}
    where url = ${url} and closed_at is null and paged_at is null
      and (page_claimed_at is null or page_claimed_at <= ${new Date(claimedAt.getTime() - pageClaimMs)})
    returning id, url, opened_at, closed_at, detail, paged_at`)
  if (!incident) return
  let sent = false
  try {
    sent = await send(incident)
  } finally {
    const pagedAt = sent ? journal.now() : null
    await journal.write(async (entry) => {
      await entry.query(sql`
        update gate_incident set page_claimed_at = null, paged_at = ${pagedAt}
        where id = ${incident.id} and page_claimed_at = ${claimedAt}`)
      if (pagedAt)
        entry.append({
          type: 'notification.sent',
          actor: systemActor,
          data: { channel: 'page', incidentId: incident.id },
          at: pagedAt,
        })
    })
  }
}
