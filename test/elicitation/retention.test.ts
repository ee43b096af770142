import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../src/database/sql.ts'
import { answer } from '../../src/elicitation/answer.ts'
import { type Elicitation, findById } from '../../src/elicitation/elicitation.ts'
import { eraseResolved, forgetDelivered } from '../../src/elicitation/retention.ts'
import { registerProcess, reportExit } from '../../src/session/process.ts'
import { openDomain, person, runner, type TestDomain } from '../support/domain.ts'
import { writeBlockedSessions } from '../support/many.ts'

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
beforeEach(() => domain.clear())
afterAll(() => domain[Symbol.asyncDispose]())

const secret = 'hunter2'
const schema = { type: 'object', properties: { password: { type: 'string', title: secret } } }

async function asked(): Promise<Elicitation> {
  const { id } = await domain.session()
  const { elicitation } = await domain.ask(id, {
    message: `Is it ${secret}?`,
    context: secret,
    meta: { hint: secret },
    requestedSchema: schema,
  })
  return elicitation
}

async function answered(): Promise<Elicitation> {
  const elicitation = await asked()
  await answer(
    domain.desk,
    elicitation,
    { action: 'accept', content: { password: secret }, note: `It was ${secret}` },
    person,
    { surface: 'rest', address: null },
  )
  return elicitation
}

const later = (ms: number) => new Date(domain.clock.now.getTime() + ms)

/** Everything in the database, as text. */
async function everything(): Promise<string> {
  const tables = [
    await domain.database.query(sql`select * from elicitation`),
    await domain.database.query(sql`select type, data from event`),
    await domain.database.query(sql`select * from session`),
  ]
  return JSON.stringify(tables)
}

describe('what is older than the retention', () => {
  it('is erased in the request and on the timeline; that it was asked and how it ended stays', async () => {
    const { id } = await answered()
    expect(await eraseResolved(domain.journal, later(1))).toBe(1)
    expect(await everything()).not.toContain(secret)
    expect(await findById(domain.database, id)).toMatchObject({
      status: 'accept',
      cause: 'answered',
      toolName: 'delete_tenant',
      respondedByName: person.name,
      respondedAt: domain.clock.now,
      message: '',
      requestedSchema: {},
      meta: {},
      content: null,
      note: null,
      callerAddress: null,
      erasedAt: domain.clock.now,
    })
    const events = await domain.database.query(
      sql`select type, data from event where elicitation_id = ${id} order by cursor`,
    )
    expect(events).toEqual([
      { type: 'elicitation.created', data: {} },
      { type: 'elicitation.resolved', data: { status: 'accept', cause: 'answered', surface: 'rest' } },
    ])
  })

  it('is erased where the session kept it: the lost record and the reason of a failure', async () => {
    const expired = await asked()
    domain.clock.now = expired.expiresAt
    await answer(domain.desk, expired, { action: 'accept' }, person, { surface: 'rest', address: null })
    const died = await asked()
    const process = { host: 'laptop', pid: 7, command: null, startedAt: domain.clock.now }
    await registerProcess(domain.journal, died.sessionId, process, runner)
    await reportExit(domain.journal, died.sessionId, { exitCode: 1, signal: null, pid: 7 }, runner)
    expect(await everything()).toContain(`unanswered: delete_tenant: Is it ${secret}?`)

    expect(await eraseResolved(domain.journal, later(1))).toBe(2)
    expect(await everything()).not.toContain(secret)
    expect(await domain.row(expired.sessionId)).toMatchObject({ lostReason: 'expired', lostSummary: null })
    expect(await domain.row(died.sessionId)).toMatchObject({
      status: 'failed',
      failureReason: 'The agent exited with code 1 while a request was unanswered.',
    })
  })

  it('is not what is pending, nor what was resolved since', async () => {
    await asked()
    const before = later(1)
    domain.clock.now = later(2)
    await answered()
    expect(await eraseResolved(domain.journal, before)).toBe(0)
  })

  it('goes in batches, once', async () => {
    const { database, journal, clock } = domain
    await writeBlockedSessions(database, { sessions: 1_200, createdAt: clock.now, expiresAt: later(60_000) })
    await database.query(
      sql`update elicitation set status = 'decline', cause = 'answered', responded_at = ${clock.now}`,
    )
    const counts = await Promise.all([eraseResolved(journal, later(1)), eraseResolved(journal, later(1))])
    expect(counts.reduce((a, b) => a + b)).toBe(1_200)
    expect(await eraseResolved(journal, later(1))).toBe(0)
  })
})

describe('the content of an answer that was delivered', () => {
  const deliver = ({ id }: Elicitation) =>
    domain.database.query(sql`update elicitation set delivered_at = ${domain.clock.now} where id = ${id}`)

  it('is erased after its time; the answer and its delivery stay', async () => {
    const elicitation = await answered()
    await deliver(elicitation)
    expect(await forgetDelivered(domain.journal, domain.clock.now)).toBe(0)
    expect(await forgetDelivered(domain.journal, later(1))).toBe(1)
    expect(await findById(domain.database, elicitation.id)).toMatchObject({
      status: 'accept',
      content: null,
      forgottenAt: domain.clock.now,
      deliveredAt: domain.clock.now,
      message: `Is it ${secret}?`,
    })
    expect(await forgetDelivered(domain.journal, later(1))).toBe(0)
  })

  it('is kept while nobody has collected it', async () => {
    const { id } = await answered()
    expect(await forgetDelivered(domain.journal, later(3_600_000))).toBe(0)
    expect(await findById(domain.database, id)).toMatchObject({ content: { password: secret } })
  })
})
