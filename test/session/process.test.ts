import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRefusal } from '../../src/base/refusal.ts'
import type { Session } from '../../src/database/generated/prisma/client.ts'
import { systemActor } from '../../src/events/event.ts'
import { commandSession } from '../../src/session/commands.ts'
import { heartbeat, isAlive, processAliveMs, registerProcess, reportExit } from '../../src/session/process.ts'
import { openDomain, runner, type TestDomain } from '../support/domain.ts'

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
afterAll(async () => {
  await domain?.[Symbol.asyncDispose]()
})

const agent = { host: 'laptop', pid: 4711, command: 'claude', startedAt: new Date('2026-03-01T12:00:00Z') }
const nowhere = '00000000-0000-7000-8000-000000000000'
const register = (id: string, process = agent) => registerProcess(domain.journal, id, process, runner)
const exit = (id: string, how: Partial<Parameters<typeof reportExit>[2]>) =>
  reportExit(domain.journal, id, { exitCode: null, signal: null, pid: null, ...how }, runner)

async function eventsOf(id: string): Promise<string[]> {
  const { rows } = await domain.database.pool.query(
    'select type from event where session_id = $1 order by cursor',
    [id],
  )
  return rows.map(({ type }) => type)
}

async function running(): Promise<Session> {
  const session = await domain.session()
  await register(session.id)
  return session
}

async function blocked(requests = 1) {
  const session = await running()
  const asked = []
  for (let i = 0; i < requests; i++) asked.push((await domain.ask(session.id)).elicitation)
  return { session, asked }
}

describe('a registered process', () => {
  test('is known from then on, and on the record', async () => {
    const session = await running()
    const row = await domain.row(session.id)
    expect(row).toMatchObject({
      processHost: 'laptop',
      processPid: 4711,
      processCommand: 'claude',
      processStartedAt: agent.startedAt,
      processLastSeenAt: domain.clock.now,
      processEndedAt: null,
    })
    expect(await eventsOf(session.id)).toEqual(['session.created', 'session.started', 'process.registered'])
  })

  test('lives while its heartbeats come, and counts as gone 45 seconds after the last', async () => {
    const session = await running()
    const before = await domain.row(session.id)
    domain.clock.now = new Date(domain.clock.now.getTime() + 30_000)
    const beaten = await heartbeat(domain.journal, session.id)
    expect(beaten).toMatchObject({ processLastSeenAt: domain.clock.now })
    expect((await eventsOf(session.id)).length).toBe(3)
    const row = await domain.row(session.id)
    const since = (ms: number) => new Date(row.processLastSeenAt!.getTime() + ms)
    expect(isAlive(row, since(processAliveMs - 1))).toBe(true)
    expect(isAlive(row, since(processAliveMs))).toBe(false)
    expect(isAlive(before, since(processAliveMs - 1))).toBe(false)
  })

  test('is replaced by the next one', async () => {
    const session = await running()
    await exit(session.id, { exitCode: 1 })
    await register(session.id, { ...agent, pid: 5000 })
    expect(await domain.row(session.id)).toMatchObject({
      processPid: 5000,
      processEndedAt: null,
      processExitCode: null,
    })
  })

  test('of an archived session is refused, of no session not found', async () => {
    const session = await domain.session()
    await commandSession(domain.journal, session.id, 'archive', systemActor)
    expect(await register(session.id)).toMatchObject({ code: 'INVALID_TRANSITION', status: 'archived' })
    expect((await domain.row(session.id)).processHost).toBeNull()
    expect(await register(nowhere)).toMatchObject({ code: 'NOT_FOUND' })
    expect(await heartbeat(domain.journal, nowhere)).toMatchObject({ code: 'NOT_FOUND' })
    const other = await domain.session()
    expect(await heartbeat(domain.journal, other.id)).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('the end of a process', () => {
  test.each([
    ['with 0', { exitCode: 0, signal: null }],
    ['by Ctrl-C', { exitCode: null, signal: 'SIGINT' }],
    ['with the code of Ctrl-C', { exitCode: 130, signal: null }],
  ])('%s pauses a running session', async (_how, how) => {
    const session = await running()
    await exit(session.id, how)
    expect(await domain.row(session.id)).toMatchObject({
      status: 'needs_input',
      lostReason: null,
      processEndedAt: domain.clock.now,
      processExitCode: how.exitCode,
      processSignal: how.signal,
    })
    expect(isAlive(await domain.row(session.id), domain.clock.now)).toBe(false)
    expect((await eventsOf(session.id)).slice(3)).toEqual(['process.exited', 'session.paused'])
  })

  test('with 0 while blocked cancels what is pending and records it as stranded', async () => {
    const { session, asked } = await blocked(2)
    await exit(session.id, { exitCode: 0 })
    expect(await domain.row(session.id)).toMatchObject({
      status: 'needs_input',
      blockedOnElicitation: false,
      lostReason: 'stranded',
      lostRequestId: asked[1]!.requestId,
    })
    const { rows } = await domain.database.pool.query(
      'select status, cause from elicitation where session_id = $1',
      [session.id],
    )
    expect(rows).toEqual(Array(2).fill({ status: 'cancel', cause: 'session_ended' }))
  })

  test.each([
    ['with another code', { exitCode: 3 }, 'The agent exited with code 3.'],
    ['by a signal', { signal: 'SIGKILL' }, 'The agent was ended by SIGKILL.'],
    [
      'by a signal that also has a code',
      { exitCode: 137, signal: 'SIGKILL' },
      'The agent was ended by SIGKILL.',
    ],
  ])('%s fails the session with the reason', async (_how, how, reason) => {
    const session = await running()
    await exit(session.id, how)
    expect(await domain.row(session.id)).toMatchObject({ status: 'failed', failureReason: reason })
  })

  test('badly while blocked names the request nobody answered', async () => {
    const { session, asked } = await blocked()
    await exit(session.id, { exitCode: 1 })
    const row = await domain.row(session.id)
    expect(row).toMatchObject({ status: 'failed', blockedOnElicitation: false })
    expect(row.failureReason).toBe(
      `The agent exited with code 1 while a request was unanswered: delete_tenant: Delete the tenant acme? (${asked[0]!.requestId})`,
    )
    const { rows } = await domain.database.pool.query(
      'select status, cause from elicitation where session_id = $1',
      [session.id],
    )
    expect(rows).toEqual([{ status: 'cancel', cause: 'session_ended' }])
  })

  test.each(['pause', 'fail', 'archive'] as const)(
    'after a %s, which ended it, is only noted',
    async (event) => {
      const session = await running()
      await commandSession(domain.journal, session.id, event, systemActor, { reason: 'by hand' })
      const before = await domain.row(session.id)
      await exit(session.id, { signal: 'SIGTERM' })
      const after = await domain.row(session.id)
      expect(after).toMatchObject({
        status: before.status,
        failureReason: before.failureReason,
        processSignal: 'SIGTERM',
      })
      expect((await eventsOf(session.id)).at(-1)).toBe('process.exited')
    },
  )

  test('is noted once, however often it is reported', async () => {
    const session = await running()
    for (let i = 0; i < 3; i++) expect(isRefusal(await exit(session.id, { exitCode: 0 }))).toBe(false)
    await commandSession(domain.journal, session.id, 'resume', systemActor)
    await exit(session.id, { exitCode: 1 })
    expect((await domain.row(session.id)).status).toBe('running')
    expect((await eventsOf(session.id)).filter((type) => type === 'process.exited')).toHaveLength(1)
  })

  test('of an earlier process does not touch the one that runs now', async () => {
    const session = await running()
    await commandSession(domain.journal, session.id, 'pause', systemActor)
    await commandSession(domain.journal, session.id, 'resume', systemActor)
    await register(session.id, { ...agent, pid: 5000 })
    await exit(session.id, { signal: 'SIGTERM', pid: agent.pid })
    expect(await domain.row(session.id)).toMatchObject({
      status: 'running',
      processEndedAt: null,
      processPid: 5000,
    })
    await exit(session.id, { exitCode: 2, pid: 5000 })
    expect((await domain.row(session.id)).status).toBe('failed')
  })

  test('of no session is not found', async () => {
    expect(await exit(nowhere, { exitCode: 0 })).toMatchObject({ code: 'NOT_FOUND' })
  })
})
