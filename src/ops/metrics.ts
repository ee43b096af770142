import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { createdAtOf } from '../base/ids.ts'
import { configurableLimits, type Limits, limitCode, limitNames } from '../base/limits.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { HeldPolls } from '../elicitation/held-polls.ts'
import type { NewEvent, TimelineEvent } from '../events/event.ts'
import type { Fanout } from '../events/fanout.ts'
import type { GateStatus } from '../gate/status.ts'
import type { JobRun, Jobs } from '../jobs/boss.ts'

/** What the gauges read; nobody asks for it between two scrapes. */
export interface Measured {
  database: Database
  heldPolls: HeldPolls
  limits: Limits
  heldPollsMax: number
  fanout: Fanout
  jobs: Jobs
  gate: { status(): Promise<GateStatus> }
  now: () => Date
}

export interface Metrics {
  /** What this process committed: each event is counted on the server that wrote it, so that servers add up. */
  committed(events: NewEvent[]): void
  /** An event has come round to this process's subscribers. */
  handedOut(event: TimelineEvent, now: Date): void
  jobRan(run: JobRun): void
  /** Counts requests, and serves `/metrics`. */
  register(http: FastifyInstance, measured: Measured): void
}

/** The endpoint is open, so what it asks of the database is bounded by time and not by who asks. */
const readAgainAfterMs = 5_000

const ages = ['under_1m', '1m_to_10m', '10m_to_1h', 'over_1h'] as const

/**
 * Metrics in the format of Prometheus. Counters are moved where things happen; gauges are read when they are scraped. Requests
 * are labelled by the pattern of their route: an address may hold a token, and anybody can make up addresses.
 */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const requests = new Counter({
    name: 'holdpoint_http_requests_total',
    help: 'Requests answered, by method, route and status code.',
    labelNames: ['method', 'route', 'code'] as const,
    registers,
  })
  const requestSeconds = new Histogram({
    name: 'holdpoint_http_request_seconds',
    help: 'Time to answer a request; a held poll is held on purpose.',
    labelNames: ['route'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers,
  })
  const refusals = new Counter({
    name: 'holdpoint_refusals_total',
    help: 'Requests that were refused over REST, and questions over MCP, by the code that the caller was told.',
    labelNames: ['code'] as const,
    registers,
  })
  // A limit that nobody has passed yet is there from the start, so that an alert can be written on it.
  for (const limit of limitNames)
    if (limit !== 'heldPollsPerAddress') refusals.inc({ code: limitCode(limit) }, 0)
  const created = new Counter({
    name: 'holdpoint_elicitations_created_total',
    help: 'Requests put to people.',
    registers,
  })
  const resolved = new Counter({
    name: 'holdpoint_elicitations_resolved_total',
    help: 'Requests resolved: how, why, and by which surface (or by what, where no person did it).',
    labelNames: ['action', 'cause', 'surface'] as const,
    registers,
  })
  const answerSeconds = new Histogram({
    name: 'holdpoint_answer_seconds',
    help: 'From a request to the answer that a person gave.',
    buckets: [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400],
    registers,
  })
  const deliverySeconds = new Histogram({
    name: 'holdpoint_delivery_seconds',
    help: 'From the resolution of a request to the poll that carried it away.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300],
    registers,
  })
  const timelineLagSeconds = new Histogram({
    name: 'holdpoint_timeline_lag_seconds',
    help: 'From an event to its arrival at the subscribers of this process.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  })
  const jobRuns = new Counter({
    name: 'holdpoint_job_runs_total',
    help: 'Runs of jobs in this process.',
    labelNames: ['job', 'outcome'] as const,
    registers,
  })
  const jobSeconds = new Histogram({
    name: 'holdpoint_job_seconds',
    help: 'Time that a run of a job took.',
    labelNames: ['job'] as const,
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60],
    registers,
  })

  return {
    committed(events) {
      for (const { type, at, elicitationId, actor, data = {} } of events) {
        if (type === 'elicitation.created') created.inc()
        if (type === 'elicitation.delivered' && typeof data.afterMs === 'number')
          deliverySeconds.observe(data.afterMs / 1_000)
        if (type !== 'elicitation.resolved') continue
        const surface = typeof data.surface === 'string' ? data.surface : actor.kind
        resolved.inc({ action: String(data.status), cause: String(data.cause), surface })
        if (data.surface && elicitationId)
          answerSeconds.observe(Math.max(0, at.getTime() - createdAtOf(elicitationId).getTime()) / 1_000)
      }
    },
    handedOut({ at }, now) {
      timelineLagSeconds.observe(Math.max(0, now.getTime() - at.getTime()) / 1_000)
    },
    jobRan({ name, ok, ms }) {
      jobRuns.inc({ job: name, outcome: ok ? 'ok' : 'failed' })
      jobSeconds.observe({ job: name }, ms / 1_000)
    },
    register(http, measured) {
      registerGauges(registry, measured)
      http.addHook('onResponse', (request, reply, done) => {
        const route = request.routeOptions.url ?? 'none'
        requests.inc({ method: request.method, route, code: reply.statusCode })
        requestSeconds.observe({ route }, reply.elapsedTime / 1_000)
        if (reply.refusalCode !== null) refusals.inc({ code: reply.refusalCode })
        done()
      })
      http.get('/metrics', async (_, reply) => {
        reply.header('Cache-Control', 'no-store').type(registry.contentType)
        return registry.metrics()
      })
    },
  }
}

function registerGauges(
  registry: Registry,
  { database, heldPolls, limits, heldPollsMax, fanout, jobs, gate, now }: Measured,
): void {
  const registers = [registry]
  const remembered = <T>(read: () => Promise<T>) => rememberedFor(readAgainAfterMs, read)

  const databaseUp = new Gauge({
    name: 'holdpoint_database_up',
    help: '1 when the database answered this scrape.',
    registers,
  })
  const pendingByAge = remembered(async () => {
    const at = now().getTime()
    const ago = (ms: number) => new Date(at - ms)
    const [row] = await database.query<Record<string, bigint>>(sql`
      select count(*) filter (where created_at > ${ago(60_000)}) as a,
        count(*) filter (where created_at <= ${ago(60_000)} and created_at > ${ago(600_000)}) as b,
        count(*) filter (where created_at <= ${ago(600_000)} and created_at > ${ago(3_600_000)}) as c,
        count(*) filter (where created_at <= ${ago(3_600_000)}) as d
      from elicitation where status = 'pending'`)
    return [row!.a, row!.b, row!.c, row!.d].map(Number)
  })
  // A database that is away must not take the other numbers with it.
  const orNull = <T>(value: Promise<T>) => value.catch(() => null)

  new Gauge({
    name: 'holdpoint_elicitations_pending',
    help: 'Requests that wait for an answer, by how long they have waited.',
    labelNames: ['age'] as const,
    registers,
    async collect() {
      const counts = await orNull(pendingByAge())
      databaseUp.set(counts ? 1 : 0)
      if (counts) for (const [i, age] of ages.entries()) this.set({ age }, counts[i]!)
      else this.reset()
    },
  })
  new Gauge({
    name: 'holdpoint_held_polls',
    help: 'Polls that this process holds open.',
    registers,
    collect() {
      this.set(heldPolls.size)
    },
  })
  const limit = new Gauge({
    name: 'holdpoint_limit',
    help: 'Limits that are configured; holdpoint_refusals_total counts who passed one, under TOO_MANY_ and its name.',
    labelNames: ['name'] as const,
    registers,
  })
  limit.set({ name: 'held_polls' }, heldPollsMax)
  for (const each of limitNames) limit.set({ name: configurableLimits[each].name }, limits[each])
  new Gauge({
    name: 'holdpoint_subscribers',
    help: 'Subscriptions that this process serves.',
    registers,
    collect() {
      this.set(fanout.size)
    },
  })
  new Gauge({
    name: 'holdpoint_database_connections',
    help: 'Connections of the pool of this process; waiting are those who would like one.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      const { totalCount, idleCount, waitingCount } = database.pool
      this.set({ state: 'busy' }, totalCount - idleCount)
      this.set({ state: 'idle' }, idleCount)
      this.set({ state: 'waiting' }, waitingCount)
    },
  })
  const overdue = remembered(() => jobs.overdueSeconds())
  new Gauge({
    name: 'holdpoint_job_overdue_seconds',
    help: 'For how long a tick that is due has waited for a server to run it; all servers together.',
    labelNames: ['job'] as const,
    registers,
    async collect() {
      this.reset()
      for (const [job, seconds] of (await orNull(overdue())) ?? []) this.set({ job }, seconds)
    },
  })
  const gateStatus = remembered(() => gate.status())
  new Gauge({
    name: 'holdpoint_gate_reachable',
    help: '1 when the server last reached its gate, 0 when not; absent while that is unknown.',
    registers,
    async collect() {
      const reachable = (await orNull(gateStatus()))?.reachable ?? null
      if (reachable === null) this.remove()
      else this.set(reachable ? 1 : 0)
    },
  })
  new Gauge({
    name: 'holdpoint_gate_incident_open',
    help: '1 while an incident of the gate is open.',
    registers,
    async collect() {
      const status = await orNull(gateStatus())
      this.set(status?.incident && status.incident.closedAt === null ? 1 : 0)
    },
  })
}

/** Reads at most once in `ms`, however often it is asked. A read that failed is not remembered. */
function rememberedFor<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null
  let readAt = 0
  return () => {
    if (value && performance.now() - readAt < ms) return value
    readAt = performance.now()
    const reading = read()
    value = reading
    reading.catch(() => {
      if (value === reading) value = null
    })
    return reading
  }
}
