import { afterAll, beforeAll, expect, it } from 'vitest'
import { isRefusal } from '../../src/base/refusal.ts'
import { ask, type Source } from '../../src/elicitation/ask.ts'
import { countSessionsOnPlainAddress } from '../../src/elicitation/plain-address.ts'
import { systemActor } from '../../src/events/event.ts'
import { findGateToken, mintGateToken } from '../../src/gate/token.ts'
import { commandSession } from '../../src/session/commands.ts'
import { requestId } from '../support/ask.ts'
import { openDomain, type TestDomain } from '../support/domain.ts'

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
afterAll(() => domain?.[Symbol.asyncDispose]())

async function askFrom(sessionId: string, source: Partial<Source>): Promise<void> {
  const question = {
    requestId: requestId(),
    mode: 'form',
    message: 'Go?',
    requestedSchema: {},
    meta: {},
    toolName: null,
    context: null,
    url: null,
    elicitationId: null,
    expiresAt: null,
  } as const
  const whole = { gateTokenId: null, callerAddress: '127.0.0.1', serverName: null, ...source }
  expect(isRefusal(await ask(domain.desk, sessionId, question, whole))).toBe(false)
}

it('counts living sessions whose latest request came in on the plain address', async () => {
  const count = () => countSessionsOnPlainAddress(domain.database)
  const [first, second, third] = [await domain.session(), await domain.session(), await domain.session()]
  expect(await count()).toBe(0)
  await askFrom(first.id, {})
  await askFrom(second.id, {})
  await askFrom(third.id, { callerAddress: 'key:an-agent' })
  expect(await count()).toBe(2)

  const secret = await domain.journal.write((entry) =>
    mintGateToken(entry, { sessionId: first.id, serverName: null }, systemActor, domain.clock.now),
  )
  const token = await findGateToken(domain.database, secret)
  await askFrom(first.id, { gateTokenId: token!.id })
  expect(await count()).toBe(1)
  // An agent's own question says nothing about its servers.
  await askFrom(first.id, { callerAddress: 'key:an-agent' })
  expect(await count()).toBe(1)

  await commandSession(domain.journal, second.id, 'archive', systemActor)
  expect(await count()).toBe(0)
})
