import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Queryable } from '../../src/database/database.ts'
import { createPolledReader } from '../../src/elicitation/polled.ts'
import { withdraw } from '../../src/elicitation/withdraw.ts'
import { mcpServerActor } from '../../src/events/event.ts'
import { openDomain, type TestDomain } from '../support/domain.ts'

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
beforeEach(() => domain.clear())
afterAll(() => domain[Symbol.asyncDispose]())

/** The database, with its statements counted and, when told to, failing. */
function counted() {
  const counts = { statements: 0, failing: false }
  const queryable: Queryable = {
    query(statement) {
      counts.statements++
      return counts.failing ? Promise.reject(new Error('away')) : domain.database.query(statement)
    },
  }
  return { counts, reader: createPolledReader(queryable) }
}

async function asked(count: number) {
  const session = await domain.session()
  return Promise.all(Array.from({ length: count }, async () => (await domain.ask(session.id)).elicitation))
}

it('a thousand polls at once are read in a few statements, each with its own request', async () => {
  const requests = await asked(20)
  const { counts, reader } = counted()
  const rows = await Promise.all(
    Array.from({ length: 1_000 }, (_, i) => reader.read(requests[i % 20]!.requestId)),
  )
  for (const [i, row] of rows.entries()) expect(row?.id).toBe(requests[i % 20]!.id)
  expect(counts.statements).toBeLessThanOrEqual(3)
})

it('what another process resolved is final for the next poll, every time, among polls of other requests', async () => {
  const requests = await asked(20)
  const { reader } = counted()
  let busy = true
  const others = (async () => {
    while (busy) await Promise.all(requests.slice(10).map(({ requestId }) => reader.read(requestId)))
  })()
  for (const request of requests.slice(0, 10)) {
    expect((await reader.read(request.requestId))?.status).toBe('pending')
    await withdraw(domain.desk, request, mcpServerActor(null))
    expect((await reader.read(request.requestId))?.status).toBe('cancel')
  }
  busy = false
  await others
})

it('unknown ids are unknown, and known once they are there', async () => {
  const { reader } = counted()
  expect(await reader.read('later')).toBeNull()
  const session = await domain.session()
  await domain.ask(session.id, { requestId: 'later' })
  expect((await reader.read('later'))?.status).toBe('pending')
  expect(await Promise.all([reader.read('later'), reader.read('never')])).toEqual([
    expect.objectContaining({ requestId: 'later' }),
    null,
  ])
})

it('a statement that fails fails the polls that wait for it, and no later one', async () => {
  const [request] = await asked(1)
  const { counts, reader } = counted()
  counts.failing = true
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => reader.read(request!.requestId)))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  counts.failing = false
  expect((await reader.read(request!.requestId))?.id).toBe(request!.id)
})
