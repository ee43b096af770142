import { describe, expect, it } from 'vitest'
import { type Limit, type Limits, limitCode, limitVariable } from '../../src/base/limits.ts'
import { createSession, requestId } from '../support/ask.ts'
import { type RestResponse, startServer, type TestServer } from '../support/server.ts'

/** Behind a proxy that names the caller, so that one test can come from many addresses. */
const start = (limits: Partial<Limits> = {}) => {
  const configured = Object.entries(limits).map(([limit, value]) => [
    limitVariable(limit as Limit),
    String(value),
  ])
  return startServer({
    environment: { HOLDPOINT_TRUST_PROXY: '127.0.0.1', ...Object.fromEntries(configured) },
  })
}
const from = (address: string) => ({ 'x-forwarded-for': address, 'content-type': 'application/json' })

const create = (
  server: TestServer,
  session: string,
  address: string,
  id = requestId(),
  path = '/api/v1/elicitations',
) =>
  server.rest('POST', path, {
    headers: from(address),
    body: JSON.stringify({
      message: 'Go?',
      _meta: { 'com.pulsemcp/request-id': id, 'com.pulsemcp/session-id': session },
    }),
  })

/** How often `/metrics` says that a limit was passed. */
async function refusals(server: TestServer, limit: Limit): Promise<number> {
  const { body } = await server.rest('GET', '/metrics')
  return Number(
    new RegExp(`^holdpoint_refusals_total\\{code="${limitCode(limit)}"\\} (\\d+)$`, 'm').exec(body)![1],
  )
}

const unknown = (server: TestServer, address: string, path = '/api/v1/elicitations') =>
  server.rest('GET', `${path}/unknown-${requestId()}?wait=0`, { headers: { 'x-forwarded-for': address } })

/** What whoever passes a limit is told: which one, and when to come again. */
function expectRefused(answer: RestResponse, limit: Limit): void {
  expect(answer).toMatchObject({ status: 429, body: { code: limitCode(limit) } })
  expect(answer.body.message).toContain(limitVariable(limit))
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}

describe('limits on the open address', () => {
  it('lets so many requests of one address wait in a session, and leaves everybody else their share', async () => {
    const max = 3
    await using server = await start({ pendingPerAddress: max })
    const session = await createSession(server)
    for (let i = 0; i < max; i++) expect((await create(server, session.id, '192.0.2.1')).status).toBe(201)
    expectRefused(await create(server, session.id, '192.0.2.1'), 'pendingPerAddress')
    expect((await create(server, session.id, '192.0.2.2')).status).toBe(201)
    const { elicitations } = await server.graphql(
      `query($s: ID!) { elicitations(sessionId: $s) { totalCount } }`,
      { s: session.id },
    )
    expect(elicitations.totalCount).toBe(max + 1)
    expect(await refusals(server, 'pendingPerAddress')).toBe(1)
  })

  it('takes so many creations a minute of one address for a session, and in all, and says when to come again', async () => {
    const max = 3
    await using server = await start({ creationsPerSession: max, creationsPerAddress: 2 * max })
    const [one, other] = await Promise.all([createSession(server), createSession(server)])
    const ask = (session: { id: string }, id?: string) => create(server, session.id, '192.0.2.1', id)
    for (let i = 0; i < max; i++) expect((await ask(one, `first-${i}`)).status).toBe(201)
    expectRefused(await ask(one), 'creationsPerSession')
    for (let i = 0; i < max - 1; i++) expect((await ask(other)).status).toBe(201)
    expectRefused(await ask(other), 'creationsPerAddress')
    // The same request again creates nothing: beyond every limit it is answered as before.
    expect((await ask(one, 'first-0')).status).toBe(200)
    expect((await create(server, one.id, '192.0.2.2')).status).toBe(201)
    expect(await refusals(server, 'creationsPerSession')).toBe(1)
    expect(await refusals(server, 'creationsPerAddress')).toBe(1)
  })

  it('tells nobody beyond a limit which request ids are taken', async () => {
    const max = 2
    await using server = await start({ creationsPerAddress: max })
    const [mine, theirs] = await Promise.all([createSession(server), createSession(server)])
    expect((await create(server, theirs.id, '192.0.2.9', 'theirs')).status).toBe(201)
    for (let i = 0; i < max; i++) expect((await create(server, mine.id, '192.0.2.1')).status).toBe(201)
    for (const [session, id] of [
      [mine, 'theirs'],
      [mine, 'nobodys'],
    ] as const)
      expectRefused(await create(server, session.id, '192.0.2.1', id), 'creationsPerAddress')
  })

  it('counts who names no session it knows as one who guesses, and not as one who creates', async () => {
    const max = 3
    await using server = await start({ creationsPerAddress: max, unknownPollsPerAddress: 2 * max })
    const session = await createSession(server)
    for (let i = 0; i < 2 * max; i++)
      expect((await create(server, i % 2 ? 'nobody' : '', '192.0.2.1')).status).toBe(404)
    expectRefused(await create(server, 'nobody', '192.0.2.1'), 'unknownPollsPerAddress')
    for (let i = 0; i < max; i++) expect((await create(server, session.id, '192.0.2.1')).status).toBe(201)
  })

  it('takes so many polls of unknown requests a minute, and any number of a known one', async () => {
    const max = 3
    await using server = await start({ unknownPollsPerAddress: max })
    const { body } = await create(server, (await createSession(server)).id, '192.0.2.1')
    for (let i = 0; i < max; i++) expect((await unknown(server, '192.0.2.1')).status).toBe(404)
    expectRefused(await unknown(server, '192.0.2.1'), 'unknownPollsPerAddress')
    expect((await unknown(server, '192.0.2.2')).status).toBe(404)
    for (let i = 0; i < 10 * max; i++)
      expect(
        (
          await server.rest('GET', `/api/v1/elicitations/${body.requestId}?wait=0`, {
            headers: { 'x-forwarded-for': '192.0.2.1' },
          })
        ).status,
      ).toBe(200)
    expect(await refusals(server, 'unknownPollsPerAddress')).toBe(1)
  })

  it('takes so many sign-ins a minute', async () => {
    const max = 2
    await using server = await start({ signInsPerAddress: max })
    const signIn = () => server.rest('POST', '/api/v1/sign-in', { body: { key: 'a-wrong-key' } })
    for (let i = 0; i < max; i++) expect((await signIn()).status).toBe(401)
    expectRefused(await signIn(), 'signInsPerAddress')
    expect(await refusals(server, 'signInsPerAddress')).toBe(1)
  })

  it('lets a capability address have its own share, whatever strangers use up on the plain one', async () => {
    await using server = await start({
      pendingPerToken: 2,
      pendingPerAddress: 1,
      creationsPerSession: 4,
      unknownPollsPerAddress: 1,
    })
    const session = await createSession(server)
    const { rotateGateToken } = await server.graphql(
      'mutation($s: ID!) { rotateGateToken(sessionId: $s) { ... on RotateGateTokenSuccess { gateToken { url } } } }',
      { s: session.id },
    )
    const { pathname } = new URL(rotateGateToken.gateToken.url)
    // A stranger at the very address that the real server calls from.
    await create(server, session.id, '192.0.2.1')
    expectRefused(await create(server, session.id, '192.0.2.1'), 'pendingPerAddress')
    for (let i = 0; i < 3; i++) await create(server, session.id, '192.0.2.1')
    expectRefused(await create(server, session.id, '192.0.2.1'), 'creationsPerSession')
    await unknown(server, '192.0.2.1')
    expectRefused(await unknown(server, '192.0.2.1'), 'unknownPollsPerAddress')

    const mine: RestResponse[] = []
    for (let i = 0; i < 3; i++) mine.push(await create(server, session.id, '192.0.2.1', undefined, pathname))
    expect(mine.map(({ status }) => status)).toEqual([201, 201, 429])
    expectRefused(mine[2]!, 'pendingPerToken')
    for (const { body } of mine.slice(0, 2))
      expect(
        (
          await server.rest('GET', `${pathname}/${body.requestId}?wait=0`, {
            headers: { 'x-forwarded-for': '192.0.2.1' },
          })
        ).status,
      ).toBe(200)
    expect(await refusals(server, 'pendingPerToken')).toBe(1)
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

  it('are as many for an address as are configured', async () => {
    await using server = await start({ heldPollsPerAddress: 1 })
    const session = await createSession(server)
    const [first, second] = [
      await create(server, session.id, '192.0.2.1'),
      await create(server, session.id, '192.0.2.1'),
    ]
    const abort = new AbortController()
    const hold = ({ body }: RestResponse, address: string) =>
      server
        .rest('GET', `/api/v1/elicitations/${body.requestId}?wait=60`, {
          headers: { 'x-forwarded-for': address },
          signal: abort.signal,
        })
        .catch(() => null)
    const held = [hold(first, '192.0.2.1'), hold(first, '192.0.2.2')]
    await expect.poll(() => server.app.heldPolls()).toBe(2)
    expect(await hold(second, '192.0.2.1')).toMatchObject({ status: 200, body: { action: 'pending' } })
    abort.abort()
    await Promise.all(held)
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
