import type { Log } from '../base/log.ts'
import { InvalidTransitionError, type Refusal, unknownSession } from '../base/refusal.ts'
import type { SessionStatus } from '../database/generated/prisma/enums.ts'
import { sql } from '../database/sql.ts'
import type { Actor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import { collectionUrl, type GateAccess } from './address.ts'
import {
  findReportFor,
  type GateReport,
  hostForgottenMs,
  listReports,
  type RecordedReport,
  readReport,
  recordReport,
} from './host-report.ts'
import { findIncident, type Incident, pageOnce, recordProbe } from './incident.ts'
import { type ProbeResult, probe } from './probe.ts'
import type { GateKnowledge } from './system-prompt.ts'
import { endGateTokens, mintGateToken } from './token.ts'

export interface GateStatus {
  /** The collection URL that agents are told. */
  url: string
  access: GateAccess
  /** From the server itself. Null: never probed, or too long ago. */
  reachable: boolean | null
  detail: string | null
  checkedAt: Date | null
  /** The incident that is open, or else the latest one. */
  incident: Incident | null
  /** What runners reported, one per host. */
  hosts: { host: string; reachable: boolean | null; detail: string | null; checkedAt: Date }[]
}

/** What goes to whoever is on call. */
export interface Page {
  type: 'gate.unreachable'
  text: string
  url: string
  detail: string
  checkedAt: Date
}

/** Settles within half a minute: false when there is nobody to page. Rejects when the page could not be delivered. */
export type SendPage = (page: Page) => Promise<boolean>

export interface Gate {
  status(): Promise<GateStatus>
  /** Probes now and records what came of it. */
  probe(): Promise<GateStatus>
  /** Takes a runner's report, for its session; writes `gate.reported` when it says something new. */
  report(sessionId: string, report: GateReport, actor: Actor): Promise<void>
  /** What an agent of this session is to be told of the gate: its own host's fresh report beats the server's probe. */
  knowledgeFor(sessionId: string): Promise<GateKnowledge>
  /** Ends the session's capability addresses and makes a new one. */
  rotateToken(sessionId: string, actor: Actor): Promise<{ url: string; createdAt: Date } | Refusal>
}

/** What was found out longer ago than this says nothing about now. */
const freshMs = 30 * 60_000

const unseenFromHosts = "not checked from the agents' host"

export function createGate(options: {
  journal: Journal
  publicUrl: string
  access: GateAccess
  page: SendPage
  log: Pick<Log, 'info' | 'warn'>
}): Gate {
  const { journal, publicUrl, access, page, log } = options
  const { database } = journal
  const url = collectionUrl(publicUrl)
  const isFresh = (checkedAt: Date) => journal.now().getTime() - checkedAt.getTime() <= freshMs

  async function latestProbe(): Promise<ProbeResult | null> {
    const [found] = await database.query<ProbeResult>(
      sql`select url, reachable, detail, checked_at from gate_probe where url = ${url}`,
    )
    return found ?? null
  }

  async function status(): Promise<GateStatus> {
    const since = new Date(journal.now().getTime() - hostForgottenMs)
    const [latest, incident, reports] = await Promise.all([
      latestProbe(),
      findIncident(database, url),
      listReports(database, since),
    ])
    const hosts = reports.map(({ host, reachable, detail, checkedAt }) => ({
      host,
      reachable: isFresh(checkedAt) ? reachable : null,
      detail,
      checkedAt,
    }))
    const seenFromHosts = hosts.some(({ reachable }) => reachable !== null)
    return {
      url,
      access,
      reachable: latest && isFresh(latest.checkedAt) ? latest.reachable : null,
      detail: [latest?.detail, seenFromHosts ? null : unseenFromHosts].filter(Boolean).join('; ') || null,
      checkedAt: latest?.checkedAt ?? null,
      incident,
      hosts,
    }
  }

  function pageAbout({ detail, openedAt }: Incident): Page {
    const text = `Agents cannot reach the approval gate at ${url}: ${detail}. Whatever they ask for is not approved, and nobody is asked.`
    return { type: 'gate.unreachable', text, url, detail, checkedAt: openedAt }
  }

  return {
    status,
    async probe() {
      const result = await probe(url, { now: journal.now })
      const change = await recordProbe(journal, result)
      const { reachable, detail } = result
      if (!reachable) {
        log.warn(
          { url, detail },
          'the gate cannot be reached: agents are told "not approved", and nobody is asked',
        )
        await pageOnce(journal, url, (incident) => page(pageAbout(incident))).catch((error: unknown) =>
          log.warn({ err: error, url }, 'nobody could be paged about the gate; the next probe tries again'),
        )
      }
      if (change === 'closed') log.info({ url, detail }, 'the gate can be reached again')
      return status()
    },
    report: (sessionId, report, actor) =>
      journal.write((entry) => recordReport(entry, sessionId, readReport(report, journal.now()), actor)),
    async knowledgeFor(sessionId) {
      const [report, latest] = await Promise.all([findReportFor(database, sessionId), latestProbe()])
      const known = [report, latest && { ...latest, host: null }].find(
        (each) => each && isFresh(each.checkedAt),
      )
      if (!known) return { status: 'unknown', url, detail: null, checkedAt: null, host: null }
      return knowledgeOf(known)
    },
    rotateToken: (sessionId, actor) =>
      journal.write(async (entry) => {
        const [session] = await entry.query<{ status: SessionStatus }>(
          sql`select status from session where id = ${sessionId} for update`,
        )
        if (!session) return unknownSession()
        if (session.status === 'archived')
          return new InvalidTransitionError(
            session.status,
            'rotate_gate_token',
            'The session is archived and has no address any more. Unarchive it first.',
          )
        const createdAt = journal.now()
        await endGateTokens(entry, sessionId, actor, createdAt)
        const token = await mintGateToken(entry, { sessionId, serverName: null }, actor, createdAt)
        return { url: collectionUrl(publicUrl, token), createdAt }
      }),
  }
}

/** What one look at the gate says of it. */
export function knowledgeOf({
  url,
  reachable,
  detail,
  checkedAt,
  host,
}: Omit<RecordedReport, 'host'> & { host: string | null }): GateKnowledge {
  return { status: reachable ? 'healthy' : 'unreachable', url, detail, checkedAt, host }
}
