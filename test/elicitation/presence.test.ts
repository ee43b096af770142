import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '../../src/database/sql.ts'
import { findById } from '../../src/elicitation/elicitation.ts'
import { createPresence, type Presence } from '../../src/elicitation/presence.ts'
import { openDomain, type TestDomain } from '../support/domain.ts'

let domain: TestDomain
let presence: Presence
beforeAll(async () => {
  domain = await openDomain()
})
beforeEach(async () => {
  await domain.clear()
  presence = createPresence({
    database: domain.database,
    now: () => domain.clock.now,
    onError: console.error,
  })
})
afterEach(() => presence.stop())
afterAll(() => domain[Symbol.asyncDispose]())

const passSeconds = (seconds: number) => {
  domain.clock.now = new Date(domain.clock.now.getTime() + seconds * 1_000)
}
const asked = async () => (await domain.ask((await domain.session()).id)).elicitation
const lastPolledAt = async (id: string) => (await findById(domain.database, id))!.lastPolledAt

describe('who is listening', () => {
  it('is nobody yet, then somebody while a poll is open and for half a minute after it, then nobody any more', async () => {
    const elicitation = await asked()
    expect(presence.listening(elicitation)).toBe('not_yet')
    presence.opened(elicitation.id)
    passSeconds(60)
    expect(presence.listening(elicitation)).toBe('listening')
    presence.closed(elicitation.id)
    passSeconds(29)
    expect(presence.listening(elicitation)).toBe('listening')
    passSeconds(1)
    expect(presence.listening(elicitation)).toBe('silent')
  })

  it('is known to other processes by what is written, a long poll again and again', async () => {
    const elicitation = await asked()
    presence.opened(elicitation.id)
    const openedAt = domain.clock.now
    await presence.flush()
    expect(await lastPolledAt(elicitation.id)).toEqual(openedAt)
    passSeconds(14)
    await presence.flush()
    expect(await lastPolledAt(elicitation.id)).toEqual(openedAt)
    passSeconds(1)
    await presence.flush()
    expect(await lastPolledAt(elicitation.id)).toEqual(domain.clock.now)
  })

  it('never goes back in time, and a poll costs no statement of its own', async () => {
    const elicitation = await asked()
    const newer = new Date(domain.clock.now.getTime() + 5_000)
    await domain.database.query(
      sql`update elicitation set last_polled_at = ${newer} where id = ${elicitation.id}`,
    )
    for (let i = 0; i < 100; i++) presence.seen(elicitation.id)
    await presence.flush()
    expect(await lastPolledAt(elicitation.id)).toEqual(newer)
  })

  it('waits for nobody who holds a request', async () => {
    const [held, free] = [await asked(), await asked()]
    await domain.database.transaction(async (tx) => {
      await tx.query(sql`select 1 as one from elicitation where id = ${held.id} for update`)
      presence.seen(held.id)
      presence.seen(free.id)
      await presence.flush()
    })
    expect(await lastPolledAt(held.id)).toBeNull()
    expect(await lastPolledAt(free.id)).toEqual(domain.clock.now)
  })
})
