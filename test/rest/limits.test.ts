import { describe, expect, it } from 'vitest'
import { createSession, requestId } from '../support/ask.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** Behind a proxy that names the caller, so that one test can come from many addresses. */
const start = () => startServer({ environment: { HOLDPOINT_TRUST_PROXY: '127.0.0.1' } })
const from = (address: string) => ({ 'x-forwarded-for': address, 'content-type': 'application/json' })

const create = (server: TestServer, session: string, address: string, id = requestId()) =>
  server.rest('POST', '/api/v1/elicitations', {
    headers: from(address),
    body: JSON.stringify({
      message: 'Go?',
      _meta: { 'com.pulsemcp/request-id': id, 'com.pulsemcp/session-id': session },
    }),
  })

describe('limits on the open address', () => {
  it('lets 20 requests of one address wait in a session, and leaves everybody else their share', async () => {
    await using server = await start()
    const session = await createSession(server)
    for (let i = 0; i < 20; i++) expect((await create(server, session.id, '192.0.2.1')).status).toBe(201)
    const refused = await create(server, session.id, '192.0.2.1')
    expect(refused).toMatchObject({ status: 429, body: { code: 'TOO_MANY_PENDING' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await create(server, session.id, '192.0.2.2')).status).toBe(201)
    const { elicitations } = await server.graphql(
      `query($s: ID!) { elicitations(sessionId: $s) { totalCount } }`,
      { s: session.id },
    )
    expect(elicitations.totalCount).toBe(21)
  })

  it('takes 30 creations a minute of one address for a session, 60 in all, and says when to come again', async () => {
    await using server = await start()
    const sessions = await Promise.all([createSession(server), createSession(server), createSession(server)])
    // The same request again and again: nothing waits, and every one counts.
    const again = async (index: number) =>
      (await create(server, sessions[index]!.id, '192.0.2.1', `again-${index}`)).status
    for (let i = 0; i < 30; i++) expect([200, 201]).toContain(await again(0))
    const refused = await create(server, sessions[0]!.id, '192.0.2.1', 'again-0')
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await create(server, sessions[0]!.id, '192.0.2.2', 'again-0')).status).toBe(200)
    for (let i = 0; i < 29; i++) expect([200, 201]).toContain(await again(1))
    expect(await again(2)).toBe(429)
    expect((await create(server, sessions[2]!.id, '192.0.2.3')).status).toBe(201)
  })

  it('limits polls of unknown requests and never those of a known one', async () => {
    await using server = await start()
    const { body } = await create(server, (await createSession(server)).id, '192.0.2.1')
    const poll = (id: string) =>
      server.rest('GET', `/api/v1/elicitations/${id}?wait=0`, { headers: { 'x-forwarded-for': '192.0.2.1' } })
    const statuses: number[] = []
    for (let i = 0; i < 121; i++) statuses.push((await poll(`unknown-${i}`)).status)
    expect(statuses.slice(0, 120).every((status) => status === 404)).toBe(true)
    expect(statuses[120]).toBe(429)
    for (let i = 0; i < 150; i++) expect((await poll(body.requestId)).status).toBe(200)
  })

  it('takes ten sign-ins a minute', async () => {
    await using server = await start()
    const signIn = () => server.rest('POST', '/api/v1/sign-in', { body: { key: 'a-wrong-key' } })
    for (let i = 0; i < 10; i++) expect((await signIn()).status).toBe(401)
    expect(await signIn()).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } })
  })
})

describe('held polls', () => {
  it('are 64 an address and as many as configured in all; beyond that pending comes at once', async () => {
    await using server = await startServer({
      environment: { HOLDPOINT_TRUST_PROXY: '127.0.0.1', HOLDPOINT_HELD_POLLS_MAX: '70' },
    })
    const session = await createSession(server)
    const ids: string[] = []
    for (let i = 0; i < 18; i++) ids.push((await create(server, session.id, '192.0.2.1')).body.requestId)
    const abort = new AbortController()
    const hold = (id: string, address: string) =>
      server
        .rest('GET', `/api/v1/elicitations/${id}?wait=60`, {
          headers: { 'x-forwarded-for': address },
          signal: abort.signal,
        })
        .catch(() => ({ status: 0, body: null }))
    const held = ids.slice(0, 16).flatMap((id) => Array.from({ length: 4 }, () => hold(id, '192.0.2.1')))
    await expect.poll(() => server.app.heldPolls()).toBe(64)
    expect(await hold(ids[16]!, '192.0.2.1')).toMatchObject({ status: 200, body: { action: 'pending' } })
    for (let i = 0; i < 6; i++) held.push(hold(ids[16 + (i % 2)]!, '192.0.2.2'))
    await expect.poll(() => server.app.heldPolls()).toBe(70)
    expect(await hold(ids[17]!, '192.0.2.3')).toMatchObject({ status: 200, body: { action: 'pending' } })
    abort.abort()
    await Promise.all(held)
    await expect.poll(() => server.app.heldPolls()).toBe(0)
  })

  it('cost the database nothing while they wait', async () => {
    await using server = await start()
    const { body } = await create(server, (await createSession(server)).id, '192.0.2.1')
    const abort = new AbortController()
    const held = server
      .rest('GET', `/api/v1/elicitations/${body.requestId}?wait=60`, { signal: abort.signal })
      .catch(() => null)
    await expect.poll(() => server.app.heldPolls()).toBe(1)
    const touched = async () => {
      const { default: pg } = await import('pg')
      const client = new pg.Client({ connectionString: server.connectionString })
      await client.connect()
      await client.query('select pg_stat_force_next_flush()')
      const { rows } = await client.query(
        `select seq_tup_read + idx_tup_fetch as reads, n_tup_ins + n_tup_upd as writes from pg_stat_user_tables where relname = 'elicitation'`,
      )
      await client.end()
      return rows[0]
    }
    // The presence of the poll is written once, soon after it began.
    await expect
      .poll(
        async () =>
          (
            await server.graphql(`query($r: String!) { elicitation(requestId: $r) { lastPolledAt } }`, {
              r: body.requestId,
            })
          ).elicitation.lastPolledAt,
      )
      .not.toBeNull()
    let before = await touched()
    await expect
      .poll(
        async () => {
          const now = await touched()
          const same = now.reads === before.reads && now.writes === before.writes
          before = now
          return same
        },
        { interval: 2_500, timeout: 20_000 },
      )
      .toBe(true)
    expect(server.app.heldPolls()).toBe(1)
    abort.abort()
    await held
  })
})
