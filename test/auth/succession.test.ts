import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createKey, identify, type NewKey, revokeKey } from '../../src/auth/keys.ts'
import { overlapMinutesMax, rotateKey } from '../../src/auth/succession.ts'
import { InvalidInputError, isRefusal, NotFoundError } from '../../src/base/refusal.ts'
import { sql } from '../../src/database/sql.ts'
import { systemActor, type TimelineEvent } from '../../src/events/event.ts'
import { openDomain, type TestDomain } from '../support/domain.ts'

const minute = 60_000
const day = 24 * 60 * minute

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
afterAll(async () => {
  await domain?.[Symbol.asyncDispose]()
})
beforeEach(() => domain.clear())

const got = <T>(result: T): Exclude<T, Error> => {
  if (isRefusal(result)) throw result
  return result as Exclude<T, Error>
}
const made = async (key: Partial<NewKey> = {}) =>
  got(await createKey(domain.journal, { name: 'a bot', role: 'responder', ...key }, systemActor))
const rotate = (id: string, overlapMinutes = 60) => rotateKey(domain.journal, id, overlapMinutes, systemActor)
const works = async (secret: string) => (await identify(domain.database, secret, domain.clock.now)) !== null
const pass = (ms: number) => {
  domain.clock.now = new Date(domain.clock.now.getTime() + ms)
}
const events = () =>
  domain.database.query<TimelineEvent>(sql`select type, data, session_id from event order by cursor`)

test('both keys work until the overlap is over, and then the new one alone', async () => {
  const old = await made()
  const { secret, apiKey, replaced } = got(await rotate(old.apiKey.id, 60))
  expect(apiKey).toMatchObject({ name: 'a bot', role: 'responder', sessionId: null, expiresAt: null })
  expect(replaced).toMatchObject({
    id: old.apiKey.id,
    replacedById: apiKey.id,
    revokedAt: null,
    expiresAt: new Date(domain.clock.now.getTime() + 60 * minute),
  })
  pass(60 * minute - 1)
  expect([await works(old.secret), await works(secret)]).toEqual([true, true])
  pass(1)
  expect([await works(old.secret), await works(secret)]).toEqual([false, true])
})

test('without an overlap the old key is revoked at once, and whoever is connected with it is told', async () => {
  const old = await made()
  const { secret } = got(await rotate(old.apiKey.id, 0))
  expect([await works(old.secret), await works(secret)]).toEqual([false, true])
  expect((await events()).map(({ type, data }) => [type, data.keyId === old.apiKey.id])).toEqual([
    ['key.created', true],
    ['key.created', false],
    ['key.rotated', true],
    ['key.revoked', true],
  ])
})

test('it goes on the record: which key, which successor, and when the old one ends', async () => {
  const old = await made()
  const { apiKey, replaced } = got(await rotate(old.apiKey.id))
  expect((await events()).at(-1)).toEqual({
    type: 'key.rotated',
    sessionId: null,
    data: {
      keyId: old.apiKey.id,
      successorKeyId: apiKey.id,
      name: 'a bot',
      role: 'responder',
      expiresAt: replaced.expiresAt!.toISOString(),
    },
  })
})

test('a key with an expiry hands on as long a life as it was given, and never lives longer itself', async () => {
  const old = await made({ expiresAt: new Date(domain.clock.now.getTime() + 90 * day) })
  pass(90 * day - 10 * minute)
  const { apiKey, replaced } = got(await rotate(old.apiKey.id, 60))
  expect(apiKey.expiresAt).toEqual(new Date(domain.clock.now.getTime() + 90 * day))
  expect(replaced.expiresAt).toEqual(old.apiKey.expiresAt)
})

test('the successor of a key that is bound to a session is bound to it too', async () => {
  const { id: sessionId } = await domain.session()
  const old = await made({ role: 'viewer', sessionId })
  const { apiKey } = got(await rotate(old.apiKey.id))
  expect(apiKey).toMatchObject({ role: 'viewer', sessionId })
  expect((await events()).at(-1)!.sessionId).toBe(sessionId)
})

test('refuses what has no life to hand on, each with a word of what to do', async () => {
  const [revoked, replaced, expired] = [
    await made(),
    await made(),
    await made({ expiresAt: new Date(domain.clock.now.getTime() + 1) }),
  ]
  await revokeKey(domain.journal, revoked.apiKey.id, systemActor)
  const { apiKey: successor } = got(await rotate(replaced.apiKey.id))
  pass(1)
  expect(await rotate('no-such-key')).toBeInstanceOf(NotFoundError)
  expect(await rotate('01980000-0000-7000-8000-000000000000')).toBeInstanceOf(NotFoundError)
  for (const [id, text] of [
    [revoked.apiKey.id, 'Make a new one'],
    [expired.apiKey.id, 'Make a new one'],
    [replaced.apiKey.id, successor.id],
  ] as const) {
    const refusal = await rotate(id)
    expect(refusal).toBeInstanceOf(InvalidInputError)
    expect((refusal as InvalidInputError).message).toContain(text)
  }
  for (const overlap of [-1, 1.5, overlapMinutesMax + 1])
    expect(await rotate(successor.id, overlap)).toBeInstanceOf(InvalidInputError)
})

test('of two that rotate a key at once, one does, and the other is told of its successor', async () => {
  const old = await made()
  const results = await Promise.all([rotate(old.apiKey.id), rotate(old.apiKey.id)])
  expect(results.filter((result) => !isRefusal(result))).toHaveLength(1)
  expect(results.filter((result) => result instanceof InvalidInputError)).toHaveLength(1)
})

test('the key of a data folder has no successor elsewhere', async () => {
  const kept = await made({ name: 'local launcher laptop:/srv/holdpoint', role: 'launcher' })
  const refusal = await rotate(kept.apiKey.id)
  expect(refusal).toBeInstanceOf(InvalidInputError)
  expect((refusal as InvalidInputError).fields).toMatchObject([
    { name: 'id', messages: [expect.stringContaining('Revoke it instead')] },
  ])
  expect(await works(kept.secret)).toBe(true)
})
