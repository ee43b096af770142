import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultLimits } from '../../src/base/limits.ts'
import { createHttp } from '../../src/http.ts'
import { createMetrics, type Measured } from '../../src/ops/metrics.ts'
import { createSession, post, requestId } from '../support/ask.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())

/** The samples as a scraper reads them: `name{label="value"}` to number. */
async function scrape(from: { rest: TestServer['rest'] } = server): Promise<Map<string, number>> {
  const { status, headers, body } = await from.rest('GET', '/metrics')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toContain('text/plain')
  return samples(body)
}

function samples(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  )
}

describe('the metrics', () => {
  it('count requests by the pattern of their route, never by their address', async () => {
    const session = await createSession(server)
    const id = requestId()
    await post(server, session.id, { id })
    await server.rest('GET', `/api/v1/elicitations/${id}?wait=0`)
    await server.rest('GET', '/api/v1/gate/s3cr3t-token/elicitations/some-id')
    await server.rest('GET', '/wp-admin/setup.php')
    const found = await scrape()
    expect(
      found.get('holdpoint_http_requests_total{method="POST",route="/api/v1/elicitations",code="201"}'),
    ).toBe(1)
    expect(
      found.get(
        'holdpoint_http_requests_total{method="GET",route="/api/v1/elicitations/:request_id",code="200"}',
      ),
    ).toBe(1)
    expect(
      found.get(
        'holdpoint_http_requests_total{method="GET",route="/api/v1/gate/:token/elicitations/:request_id",code="404"}',
      ),
    ).toBe(1)
    const names = [...found.keys()].join('\n')
    for (const secret of ['s3cr3t-token', id, 'wp-admin']) expect(names).not.toContain(secret)
  })

  it('count answers by action and surface, and measure how long they and their delivery took', async () => {
    const before = await scrape()
    const session = await createSession(server)
    const id = requestId()
    await post(server, session.id, { id })
    await server.rest('PATCH', `/api/v1/elicitations/${id}/respond`, {
      key: adminKey,
      body: { action_type: 'decline' },
    })
    await server.rest('GET', `/api/v1/elicitations/${id}`)
    const after = await scrape()
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
    expect(
      grown('holdpoint_elicitations_resolved_total{action="decline",cause="answered",surface="rest"}'),
    ).toBe(1)
    expect(grown('holdpoint_elicitations_created_total')).toBe(1)
    expect(grown('holdpoint_answer_seconds_count')).toBe(1)
    expect(grown('holdpoint_delivery_seconds_count')).toBe(1)
    expect(grown('holdpoint_timeline_lag_seconds_count')).toBeGreaterThan(2)
  })

  it('count refusals by their code, and limits with them', async () => {
    const session = await createSession(server)
    for (let i = 0; i < 21; i++) await post(server, session.id, { id: requestId() })
    await server.rest('PATCH', '/api/v1/elicitations/none/respond', { body: {} })
    const found = await scrape()
    expect(found.get('holdpoint_refusals_total{code="TOO_MANY_PENDING_PER_ADDRESS"}')).toBe(1)
    expect(found.get('holdpoint_refusals_total{code="UNAUTHENTICATED"}')).toBe(1)
    expect(found.get('holdpoint_refusals_total{code="TOO_MANY_PENDING_PER_TOKEN"}')).toBe(0)
  })

  it('show the limits as they are configured', async () => {
    await using strict = await startServer({ environment: { HOLDPOINT_LIMIT_PENDING_PER_ADDRESS: '3' } })
    const found = await scrape(strict)
    const limits = [...found].filter(([name]) => name.startsWith('holdpoint_limit{'))
    expect(Object.fromEntries(limits)).toEqual({
      'holdpoint_limit{name="creations_per_address"}': 60,
      'holdpoint_limit{name="creations_per_session"}': 30,
      'holdpoint_limit{name="unknown_polls_per_address"}': 120,
      'holdpoint_limit{name="sign_ins_per_address"}': 10,
      'holdpoint_limit{name="pending_per_address"}': 3,
      'holdpoint_limit{name="pending_per_token"}': 100,
      'holdpoint_limit{name="held_polls_per_address"}': 64,
      'holdpoint_limit{name="held_polls"}': 20_000,
    })
  })

  it('read the gauges when they are scraped', async () => {
    await using fresh = await startServer()
    const session = await createSession(fresh)
    const id = requestId()
    await post(fresh, session.id, { id })
    const left = new AbortController()
    const held = fresh
      .rest('GET', `/api/v1/elicitations/${id}?wait=30`, { signal: left.signal })
      .catch(() => {})
    await expect
      .poll(async () => (await scrape(fresh)).get('holdpoint_held_polls'), { timeout: 10_000 })
      .toBe(1)
    const found = await scrape(fresh)
    expect(found.get('holdpoint_elicitations_pending{age="under_1m"}')).toBe(1)
    expect(found.get('holdpoint_elicitations_pending{age="over_1h"}')).toBe(0)
    expect(found.get('holdpoint_database_up')).toBe(1)
    expect(found.get('holdpoint_gate_incident_open')).toBe(0)
    expect(found.has('holdpoint_gate_reachable')).toBe(false)
    expect(found.get('holdpoint_database_connections{state="waiting"}')).toBe(0)
    left.abort()
    await held
  })
})

describe('without a database', () => {
  it('the metrics are still served, and say so', async () => {
    const http = createHttp({ log: pino({ level: 'silent' }), trustProxy: false })
    const gone = () => Promise.reject(new Error('gone'))
    const measured = {
      database: { query: gone, pool: { totalCount: 0, idleCount: 0, waitingCount: 0 } },
      heldPolls: { size: 7 },
      limits: defaultLimits,
      heldPollsMax: 100,
      fanout: { size: 0 },
      jobs: { overdueSeconds: gone },
      gate: { status: gone },
      now: () => new Date(),
    } as unknown as Measured
    createMetrics().register(http, measured)
    const { statusCode, body } = await http.inject('/metrics')
    await http.close()
    expect(statusCode).toBe(200)
    expect(samples(body).get('holdpoint_database_up')).toBe(0)
    expect(samples(body).get('holdpoint_held_polls')).toBe(7)
  })

  it('jobs are counted by how they went', async () => {
    const http = createHttp({ log: pino({ level: 'silent' }), trustProxy: false })
    const metrics = createMetrics()
    metrics.register(http, {
      database: {
        query: async () => [{ a: 0n, b: 0n, c: 0n, d: 0n }],
        pool: { totalCount: 3, idleCount: 1, waitingCount: 0 },
      },
      heldPolls: { size: 0 },
      limits: defaultLimits,
      heldPollsMax: 100,
      fanout: { size: 5 },
      jobs: { overdueSeconds: async () => new Map([['sweep', 12.5]]) },
      gate: { status: async () => ({ reachable: false, incident: { closedAt: null } }) },
      now: () => new Date(),
    } as unknown as Measured)
    metrics.jobRan({ name: 'expiry', ok: true, ms: 20 })
    metrics.jobRan({ name: 'expiry', ok: false, ms: 20 })
    const found = samples((await http.inject('/metrics')).body)
    await http.close()
    expect(found.get('holdpoint_job_runs_total{job="expiry",outcome="ok"}')).toBe(1)
    expect(found.get('holdpoint_job_runs_total{job="expiry",outcome="failed"}')).toBe(1)
    expect(found.get('holdpoint_job_overdue_seconds{job="sweep"}')).toBe(12.5)
    expect(found.get('holdpoint_subscribers')).toBe(5)
    expect(found.get('holdpoint_database_connections{state="busy"}')).toBe(2)
    expect(found.get('holdpoint_gate_reachable')).toBe(0)
    expect(found.get('holdpoint_gate_incident_open')).toBe(1)
  })
})
