import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../src/database/sql.ts'
import { giveUpLostProcesses, noticeLostProcesses } from '../../src/session/lost-process.ts'
import { heartbeat, registerProcess } from '../../src/session/process.ts'
import { openDomain, runner, type TestDomain } from '../support/domain.ts'

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
beforeEach(() => domain.clear())
afterAll(() => domain[Symbol.asyncDispose]())

const passSeconds = (seconds: number) => {
  domain.clock.now = new Date(domain.clock.now.getTime() + seconds * 1_000)
}
const longAgo = new Date(0)

async function runningProcess(): Promise<string> {
  const { id } = await domain.session()
  await registerProcess(
    domain.journal,
    id,
    { host: 'laptop', pid: 4711, command: null, startedAt: domain.clock.now },
    runner,
  )
  return id
}

const eventsOf = async (sessionId: string, type: string) =>
  domain.database.query<{ data: Record<string, unknown> }>(
    sql`select data from event where session_id = ${sessionId} and type = ${type}`,
  )

describe('a runner that has fallen silent', () => {
  it('is noticed after 45 seconds, once, and its session stays as it is', async () => {
    const id = await runningProcess()
    passSeconds(44)
    expect(await noticeLostProcesses(domain.journal, longAgo)).toEqual([])
    passSeconds(1)
    expect(await noticeLostProcesses(domain.journal, longAgo)).toEqual([id])
    expect(await noticeLostProcesses(domain.journal, longAgo)).toEqual([])
    expect(await domain.row(id)).toMatchObject({
      status: 'running',
      processLostAt: domain.clock.now,
      processEndedAt: null,
    })
    expect(await eventsOf(id, 'process.lost')).toMatchObject([{ data: { host: 'laptop', pid: 4711 } }])
  })

  it('is not blamed for a silence in which this server could not have heard it', async () => {
    await runningProcess()
    passSeconds(600)
    const startedAt = new Date(domain.clock.now.getTime() - 44_000)
    expect(await noticeLostProcesses(domain.journal, startedAt)).toEqual([])
  })

  it('is noticed again after it had come back', async () => {
    const id = await runningProcess()
    passSeconds(60)
    await noticeLostProcesses(domain.journal, longAgo)
    await heartbeat(domain.journal, id)
    expect(await domain.row(id)).toMatchObject({ processLostAt: null })
    passSeconds(60)
    expect(await noticeLostProcesses(domain.journal, longAgo)).toEqual([id])
  })

  it.each(['waiting', 'failed', 'archived'])('is not missed by a session that is %s', async (status) => {
    const id = await runningProcess()
    await domain.database.query(sql`update session set status = ${status} where id = ${id}`)
    passSeconds(600)
    expect(await noticeLostProcesses(domain.journal, longAgo)).toEqual([])
  })
})

describe('a blocked session whose runner has fallen silent', () => {
  /** Blocked, and its runner lost a moment after it was last heard. */
  async function blockedAndLost(): Promise<{ id: string; elicitationId: string; requestId: string }> {
    const id = await runningProcess()
    const { elicitation } = await domain.ask(id, {
      toolName: 'reveal',
      message: 'Reveal the key?',
      expiresAt: '2026-03-02T12:00:00Z',
    })
    passSeconds(60)
    await noticeLostProcesses(domain.journal, longAgo)
    return { id, elicitationId: elicitation.id, requestId: elicitation.requestId }
  }

  it('keeps its request for half an hour: the laptop may only be closed', async () => {
    const { id } = await blockedAndLost()
    passSeconds(29 * 60)
    expect(await giveUpLostProcesses(domain.journal, longAgo)).toEqual([])
    expect(await domain.row(id)).toMatchObject({ status: 'needs_input', blockedOnElicitation: true })
  })

  it('fails after half an hour without a poll, its request cancelled and named', async () => {
    const { id, elicitationId, requestId } = await blockedAndLost()
    passSeconds(30 * 60)
    expect(await giveUpLostProcesses(domain.journal, longAgo)).toEqual([id])
    expect(await domain.row(id)).toMatchObject({
      status: 'failed',
      blockedOnElicitation: false,
      failureReason: `The agent and its host laptop were not heard of for 30 minutes while a request was unanswered: reveal: Reveal the key? (${requestId})`,
      processEndedAt: domain.clock.now,
      processExitCode: null,
    })
    const [request] = await domain.database.query(
      sql`select status, cause from elicitation where id = ${elicitationId}`,
    )
    expect(request).toEqual({ status: 'cancel', cause: 'session_ended' })
    expect(await eventsOf(id, 'process.exited')).toHaveLength(1)
    expect(await giveUpLostProcesses(domain.journal, longAgo)).toEqual([])
  })

  it('is left alone while its agent still polls, whatever has become of the runner', async () => {
    const { id, elicitationId } = await blockedAndLost()
    passSeconds(25 * 60)
    await domain.database.query(
      sql`update elicitation set last_polled_at = ${domain.clock.now} where id = ${elicitationId}`,
    )
    passSeconds(5 * 60)
    expect(await giveUpLostProcesses(domain.journal, longAgo)).toEqual([])
    expect(await domain.row(id)).toMatchObject({ status: 'needs_input', blockedOnElicitation: true })
  })

  it('is given the time to be heard by a server that has just started', async () => {
    await blockedAndLost()
    passSeconds(30 * 60)
    const startedAt = new Date(domain.clock.now.getTime() - 44_000)
    expect(await giveUpLostProcesses(domain.journal, startedAt)).toEqual([])
  })

  it('is left alone when the runner has come back', async () => {
    const { id } = await blockedAndLost()
    passSeconds(29 * 60)
    await heartbeat(domain.journal, id)
    passSeconds(60)
    expect(await giveUpLostProcesses(domain.journal, longAgo)).toEqual([])
  })

  it('is left alone when nothing runs it but an MCP server of somebody else', async () => {
    const { id } = await domain.session()
    await domain.ask(id, { expiresAt: '2026-03-02T12:00:00Z' })
    passSeconds(3_600)
    await noticeLostProcesses(domain.journal, longAgo)
    expect(await giveUpLostProcesses(domain.journal, longAgo)).toEqual([])
    expect(await domain.row(id)).toMatchObject({ status: 'needs_input', blockedOnElicitation: true })
  })
})
