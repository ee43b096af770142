import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { isRefusal } from '../../src/base/refusal.ts'
import { sql } from '../../src/database/sql.ts'
import { expireDue } from '../../src/elicitation/expire.ts'
import { systemActor } from '../../src/events/event.ts'
import { recordProbe } from '../../src/gate/incident.ts'
import { attemptsMax, claimDue, nextDue, retryDelayMs } from '../../src/notify/outbox.ts'
import { walkTimeline } from '../../src/notify/timeline-walk.ts'
import { commandSession } from '../../src/session/commands.ts'
import { openHouse, publicUrl, webhookSecret } from './support/house.ts'
import { answer, closeEarly, hang } from './support/receiver.ts'

const minute = 60_000

it('tells of a request at once, signed, with a link and no request id', async () => {
  await using house = await openHouse()
  const { domain, receiver, server } = house
  const session = await domain.session()
  const { elicitation } = await domain.ask(session.id, {
    message: `Deploy with password=hunter2?\n${'🙂'.repeat(200)}`,
    toolName: 'deploy',
  })
  await server.tell()
  expect(receiver.received).toHaveLength(1)
  const { path, headers, body, json } = receiver.received[0]!
  expect(path).toBe('/hook')
  expect(headers['content-type']).toBe('application/json')
  expect(json()).toEqual({
    type: 'elicitation.pending',
    timestamp: '2026-03-01T12:00:00.000Z',
    data: {
      session: {
        id: session.id,
        slug: session.slug,
        title: 'A test',
        url: `${publicUrl}/sessions/${session.id}`,
      },
      elicitation: {
        id: elicitation.id,
        toolName: 'deploy',
        serverName: null,
        summary: expect.stringMatching(/^deploy: Deploy with password=\[redacted\]\n🙂+…$/u),
        expiresAt: '2026-03-01T13:00:00.000Z',
        status: 'pending',
        cause: null,
        url: `${publicUrl}/sessions/${session.id}`,
      },
    },
  })
  expect([...json().data.elicitation!.summary]).toHaveLength('deploy: '.length + 150)
  expect(body.toString()).not.toContain(elicitation.requestId)

  const signature = new Webhook(webhookSecret).sign(
    String(headers['webhook-id']),
    domain.clock.now,
    body.toString(),
  )
  expect(headers['webhook-signature']).toBe(signature)
  expect(headers['webhook-timestamp']).toBe(String(domain.clock.now.getTime() / 1_000))
})

it.each([
  [
    'answered',
    'accept',
    'answered',
    (house: Awaited<ReturnType<typeof openHouse>>, elicitation: any) => house.answer(elicitation),
  ],
  [
    'expired',
    'expired',
    'expired',
    async (house: Awaited<ReturnType<typeof openHouse>>) => {
      house.pass(61 * minute)
      await expireDue(house.domain.journal)
    },
  ],
  [
    'ended with its session',
    'cancel',
    'session_ended',
    async (house: Awaited<ReturnType<typeof openHouse>>, elicitation: any) => {
      await commandSession(house.domain.journal, elicitation.sessionId, 'archive', systemActor)
    },
  ],
] as const)('tells once that a request was %s, and how', async (_how, status, cause, end) => {
  await using house = await openHouse()
  const { elicitation } = await house.domain.ask((await house.domain.session()).id)
  await house.server.tell()
  await end(house, elicitation)
  await house.server.tell()
  await house.server.tell()
  const types = house.receiver.received.map((each) => each.json().type)
  expect(types).toEqual(['elicitation.pending', 'elicitation.resolved'])
  expect(house.receiver.received[1]!.json().data.elicitation).toMatchObject({
    id: elicitation.id,
    status,
    cause,
  })
})

it('goes out once however many servers there are, each taking what comes to it', async () => {
  await using house = await openHouse()
  const servers = [house.server, await house.startServer(), await house.startServer()]
  const session = await house.domain.session()
  const ids: string[] = []
  for (let i = 0; i < 10; i++) {
    const { elicitation } = await house.domain.ask(session.id)
    ids.push(elicitation.id)
    await Promise.all(servers.map((server) => server.tell()))
    await house.answer(elicitation)
  }
  await Promise.all(servers.map((server) => server.tell()))
  await Promise.all(servers.map((server) => server.tell()))
  const told = house.receiver.received.map(
    (each) => `${each.json().type} ${each.json().data.elicitation!.id}`,
  )
  expect(told.toSorted()).toEqual(
    ids.flatMap((id) => [`elicitation.pending ${id}`, `elicitation.resolved ${id}`]).toSorted(),
  )
  expect(new Set(house.receiver.received.map((each) => each.headers['webhook-id'])).size).toBe(20)
})

it('does not tell the past of a database on which nobody was notified before', async () => {
  await using house = await openHouse()
  const { domain } = house
  await domain.ask((await domain.session()).id)
  await domain.database.query(sql`delete from timeline_reader`)
  await house.server.stop()
  const server = await house.startServer()
  await server.tell()
  expect(house.receiver.received).toEqual([])
})

it('tells what was committed while no server told anything', async () => {
  await using house = await openHouse()
  const session = await house.domain.session()
  await house.server.tell()
  await house.server.stop()
  await house.domain.ask(session.id)
  const server = await house.startServer()
  await server.tell()
  expect(house.receiver.received.map((each) => each.json().type)).toEqual(['elicitation.pending'])
})

it('is sent by another server, under the same id, when its sender dies in the middle', async () => {
  await using house = await openHouse({ hasWebhook: true })
  const { domain, server, receiver } = house
  await domain.ask((await domain.session()).id)
  await server.tail.caughtUp()
  receiver.behave(hang)
  await server.notifier.run()
  await receiver.until(1)
  const [row] = await house.rows()
  expect(row!.inFlightUntil).not.toBe(null)

  const other = await house.startServer()
  receiver.behave(answer(200))
  await other.tell()
  expect(receiver.received).toHaveLength(1)
  house.pass(30_000)
  await other.tell()
  expect(receiver.received).toHaveLength(2)
  expect(receiver.received[1]!.headers['webhook-id']).toBe(receiver.received[0]!.headers['webhook-id'])
  expect((await house.rows())[0]).toMatchObject({ state: 'sent', attempts: 2 })
})

it('is tried again, later each time and under the same id, with the same body', async () => {
  await using house = await openHouse()
  const { domain, server, receiver } = house
  await domain.ask((await domain.session()).id)
  receiver.behave(answer(500, 'down'))
  await server.tell()
  expect((await house.rows())[0]).toMatchObject({
    state: 'waiting',
    attempts: 1,
    lastError: 'HTTP 500: down',
  })
  house.pass(4_999)
  await server.tell()
  expect(receiver.received).toHaveLength(1)
  house.pass(1)
  receiver.behave(closeEarly)
  await server.tell()
  house.pass(9_999)
  await server.tell()
  expect(receiver.received).toHaveLength(2)
  expect((await nextDue(domain.database))?.getTime()).toBe(domain.clock.now.getTime() + 1)
  house.pass(1)
  receiver.behave(answer(200))
  await server.tell()

  expect(new Set(receiver.received.map((each) => each.headers['webhook-id'])).size).toBe(1)
  expect(new Set(receiver.received.map((each) => each.body.toString())).size).toBe(1)
  expect(new Set(receiver.received.map((each) => each.headers['webhook-signature'])).size).toBe(3)
  expect((await house.rows())[0]).toMatchObject({ state: 'sent', attempts: 3, lastError: null })
  expect(await nextDue(domain.database)).toBe(null)
})

it('is given up after some hours, kept where an operator finds it, and sent again by hand', async () => {
  await using house = await openHouse()
  const { domain, server, receiver } = house
  const session = await domain.session()
  const { elicitation } = await domain.ask(session.id)
  receiver.behave(answer(503))
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    await server.tell()
    house.pass(retryDelayMs(attempt))
  }
  await server.tell()
  expect(receiver.received).toHaveLength(attemptsMax)
  const [dead] = await house.rows()
  expect(dead).toMatchObject({ state: 'dead', attempts: attemptsMax, lastError: 'HTTP 503' })
  expect(await house.events('notification.failed')).toEqual([
    {
      sessionId: session.id,
      elicitationId: elicitation.id,
      data: {
        channel: 'webhook',
        type: 'elicitation.pending',
        notificationId: dead!.id,
        attempts: attemptsMax,
        error: 'HTTP 503',
      },
    },
  ])

  receiver.behave(answer(200))
  expect(await server.notifier.resend(dead!.id)).toMatchObject({
    id: dead!.id,
    state: 'waiting',
    attempts: 0,
  })
  await server.notifier.settled()
  expect(receiver.received).toHaveLength(attemptsMax + 1)
  expect(receiver.received.at(-1)!.headers['webhook-id']).toBe(receiver.received[0]!.headers['webhook-id'])
  expect((await house.rows())[0]).toMatchObject({ state: 'sent' })

  const again = await server.notifier.resend(dead!.id)
  expect(again).toMatchObject({ code: 'INVALID_TRANSITION' })
  expect(await server.notifier.resend('nonsense')).toMatchObject({ code: 'NOT_FOUND' })
  expect(await server.notifier.resend(session.id)).toMatchObject({ code: 'NOT_FOUND' })
})

it('tells that a request has ended instead of that it waits, when the receiver was away in between', async () => {
  await using house = await openHouse()
  const { domain, server, receiver } = house
  const { elicitation } = await domain.ask((await domain.session()).id)
  receiver.behave(answer(500))
  await server.tell()
  await house.answer(elicitation)
  receiver.behave(answer(200))
  await server.tell()
  house.pass(60 * minute)
  await server.tell()
  expect(receiver.received.map((each) => each.json().type)).toEqual([
    'elicitation.pending',
    'elicitation.resolved',
  ])
  expect((await house.rows()).map(({ state }) => state)).toEqual(['dropped', 'sent'])
})

it.each([200, 500])(
  'never tells of the end of a request while its beginning is on its way (which ends in %s)',
  async (status) => {
    await using house = await openHouse()
    const { domain, server, receiver } = house
    const { elicitation } = await domain.ask((await domain.session()).id)
    let finish: () => void = () => {}
    receiver.behave((response) => {
      finish = () => response.writeHead(status).end()
    })
    await server.tail.caughtUp()
    await server.notifier.run()
    await receiver.until(1)
    await house.answer(elicitation)
    await server.tail.caughtUp()
    await server.notifier.run()
    expect(receiver.received).toHaveLength(1)
    receiver.behave(answer(200))
    finish()
    await receiver.until(2)
    await server.notifier.settled()
    expect(receiver.received.map((each) => each.json().type)).toEqual([
      'elicitation.pending',
      'elicitation.resolved',
    ])
    expect((await house.rows()).map(({ state }) => state)).toEqual([
      status === 200 ? 'sent' : 'dropped',
      'sent',
    ])
  },
)

it('tells of a pause after a minute, if it lasts', async () => {
  await using house = await openHouse()
  const { domain, server, receiver } = house
  const session = await domain.session()
  await commandSession(domain.journal, session.id, 'pause', systemActor)
  await server.tell()
  house.pass(minute - 1)
  await server.tell()
  expect(receiver.received).toEqual([])
  house.pass(1)
  await server.tell()
  expect(receiver.received.map((each) => each.json())).toEqual([
    {
      type: 'session.needs_input',
      timestamp: '2026-03-01T12:00:00.000Z',
      data: {
        session: {
          id: session.id,
          slug: session.slug,
          title: 'A test',
          url: `${publicUrl}/sessions/${session.id}`,
        },
        elicitation: null,
      },
    },
  ])
})

it.each([
  ['resumed', ['resume']],
  ['put to sleep', ['sleep']],
  ['resumed and paused again', ['resume', 'pause']],
  ['archived and taken back', ['archive', 'unarchive']],
] as const)('does not tell of a pause that was ended within the minute: %s', async (_how, commands) => {
  await using house = await openHouse()
  const { domain, server, receiver } = house
  const session = await domain.session()
  await commandSession(domain.journal, session.id, 'pause', systemActor)
  house.pass(30_000)
  for (const command of commands) {
    const result = await commandSession(domain.journal, session.id, command, systemActor)
    if (isRefusal(result)) throw result
  }
  house.pass(30_000)
  await server.tell()
  expect(receiver.received).toEqual([])
  // The second pause is a new one, with a minute of its own.
  house.pass(30_000)
  await server.tell()
  expect(receiver.received).toHaveLength(commands.some((command) => command === 'pause') ? 1 : 0)
})

it('is no pause when a request blocks the session', async () => {
  await using house = await openHouse()
  const { domain, server, receiver } = house
  await domain.ask((await domain.session()).id)
  house.pass(2 * minute)
  await server.tell()
  expect(receiver.received.map((each) => each.json().type)).toEqual(['elicitation.pending'])
})

it('tells of a failure at once', async () => {
  await using house = await openHouse()
  const { domain, server, receiver } = house
  const session = await domain.session()
  await commandSession(domain.journal, session.id, 'fail', systemActor, { reason: 'it crashed' })
  await server.tell()
  expect(receiver.received.map((each) => each.json())).toMatchObject([
    { type: 'session.failed', data: { session: { id: session.id }, elicitation: null } },
  ])
})

it('tells of a gate that cannot be reached, and of its recovery', async () => {
  await using house = await openHouse()
  const { domain, server, receiver } = house
  const url = `${publicUrl}/api/v1/elicitations`
  const checkedAt = domain.clock.now
  const found = { url, detail: 'connection refused (ECONNREFUSED)', checkedAt }
  await recordProbe(domain.journal, { ...found, reachable: false })
  await recordProbe(domain.journal, { ...found, reachable: true, detail: 'HTTP 404' })
  await server.tell()
  const gate = { url, detail: 'connection refused (ECONNREFUSED)', checkedAt: checkedAt.toISOString() }
  expect(
    receiver.received.map((each) => each.json()).toSorted((a, b) => (a.type < b.type ? 1 : -1)),
  ).toMatchObject([
    { type: 'gate.unreachable', data: { session: null, elicitation: null, gate } },
    {
      type: 'gate.recovered',
      data: { session: null, elicitation: null, gate: { ...gate, detail: 'HTTP 404' } },
    },
  ])
})

it('is not signed without a secret, which is warned of at the start', async () => {
  await using house = await openHouse({ hasWebhook: false })
  const server = await house.startServer({ secret: null })
  await house.domain.ask((await house.domain.session()).id)
  await server.tell()
  expect(house.receiver.received[0]!.headers).not.toHaveProperty('webhook-signature')
  expect(house.receiver.received[0]!.headers['webhook-id']).toMatch(/^msg_/)
  expect(house.logLines.join()).toContain('HOLDPOINT_WEBHOOK_SECRET is not')
})

it('says on the timeline once that somebody was told, and nothing of ends', async () => {
  await using house = await openHouse()
  const { elicitation } = await house.domain.ask((await house.domain.session()).id)
  await house.server.tell()
  await house.answer(elicitation)
  await house.server.tell()
  const [row] = await house.rows()
  expect(await house.events('notification.sent')).toEqual([
    {
      sessionId: elicitation.sessionId,
      elicitationId: elicitation.id,
      data: { channel: 'webhook', type: 'elicitation.pending', notificationId: row!.id },
    },
  ])
})

it('does not let one slow delivery hold up the others', async () => {
  await using house = await openHouse()
  const { domain, server, receiver } = house
  receiver.behave((response, request) => {
    if (receiver.received.length > 1) response.end()
    else hang(response, request)
  })
  const session = await domain.session()
  await domain.ask(session.id)
  await server.tail.caughtUp()
  await server.notifier.run()
  await receiver.until(1)
  await domain.ask(session.id)
  await server.tail.caughtUp()
  await server.notifier.run()
  await receiver.until(2)
  await expect.poll(async () => (await house.rows()).map(({ state }) => state)).toEqual(['waiting', 'sent'])
})

it('stops within moments although a receiver hangs, and leaves the rest to the next server', async () => {
  await using house = await openHouse()
  const { domain, server, receiver } = house
  await domain.ask((await domain.session()).id)
  receiver.behave(hang)
  await server.tail.caughtUp()
  await server.notifier.run()
  await receiver.until(1)
  await server.stop()
  expect((await house.rows())[0]).toMatchObject({
    state: 'waiting',
    lastError: 'this server went away during the attempt',
  })

  receiver.behave(answer(200))
  house.pass(5_000)
  await (await house.startServer()).tell()
  expect((await house.rows())[0]).toMatchObject({ state: 'sent' })
})

it('forgets what is settled after eight days, and everything after thirty', async () => {
  await using house = await openHouse()
  const { domain, server, receiver } = house
  const session = await domain.session()
  await domain.ask(session.id)
  await server.tell()
  receiver.behave(answer(500))
  await domain.ask(session.id)
  await server.tell()
  house.pass(8 * 24 * 60 * minute + 1)
  await server.notifier.prune()
  expect((await house.rows()).map(({ state }) => state)).toEqual(['waiting'])
  house.pass(22 * 24 * 60 * minute)
  await server.notifier.prune()
  expect(await house.rows()).toEqual([])
})

it('is claimed by one of many that ask at once', async () => {
  await using house = await openHouse()
  const { domain, server } = house
  for (let i = 0; i < 15; i++) await domain.ask((await domain.session()).id)
  await server.tail.caughtUp()
  await walkTimeline({ journal: domain.journal, position: () => server.tail.position, hasWebhook: true })
  const claims = await Promise.all(Array.from({ length: 8 }, () => claimDue(domain.journal, 'webhook', 4)))
  const ids = claims.flat().map(({ id }) => id)
  expect(ids).toHaveLength(15)
  expect(new Set(ids).size).toBe(15)
})
