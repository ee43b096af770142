import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ensureAdminKey } from '../../src/auth/first-key.ts'
import { createKey, identify, revokeKey } from '../../src/auth/keys.ts'
import { isRefusal } from '../../src/base/refusal.ts'
import { sql } from '../../src/database/sql.ts'
import { systemActor } from '../../src/events/event.ts'
import { openDomain, type TestDomain } from '../support/domain.ts'

const chosen = 'a key that somebody chose'
const another = 'another key that they chose'
const day = 24 * 60 * 60_000

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
afterAll(async () => {
  await domain?.[Symbol.asyncDispose]()
})
beforeEach(async () => {
  await domain.database.query(sql`delete from api_key`)
})

const start = (key: string | null) => ensureAdminKey(domain.journal, key)
const roleOf = async (key: string) => (await identify(domain.database, key, domain.clock.now))?.role ?? null

test('the first start makes an admin key up and shows it, a later one does not', async () => {
  const { secret, adminKeyId } = await start(null)
  expect(await roleOf(secret!)).toBe('admin')
  expect(await start(null)).toEqual({ adminKeyId, secret: null, warning: null })
})

test('a configured key is the admin key, on every start', async () => {
  const { adminKeyId } = await start(chosen)
  expect(await roleOf(chosen)).toBe('admin')
  expect(await start(chosen)).toEqual({ adminKeyId, secret: null, warning: null })
})

test('a configured key that was revoked stays revoked, and the server starts', async () => {
  const first = await start(chosen)
  await revokeKey(domain.journal, first.adminKeyId!, systemActor)
  expect(await start(chosen)).toEqual({
    adminKeyId: null,
    secret: null,
    warning: expect.stringContaining('HOLDPOINT_ADMIN_KEY'),
  })
  expect(await roleOf(chosen)).toBeNull()
  const next = await start(another)
  expect(next).toMatchObject({ adminKeyId: expect.any(String), warning: null })
  expect(await start(chosen)).toMatchObject({ adminKeyId: next.adminKeyId })
})

const later = (ms: number) => {
  domain.clock.now = new Date(domain.clock.now.getTime() + ms)
}

test('a configured key that is changed works for another day, which the start warns of', async () => {
  const before = await start(chosen)
  later(1)
  const after = await start(another)
  expect(after.adminKeyId).not.toBe(before.adminKeyId)
  const until = new Date(domain.clock.now.getTime() + day)
  expect(after.warning).toContain(`${before.adminKeyId}) until ${until.toISOString()}`)
  expect(after.warning).not.toContain(chosen)
  expect(await roleOf(chosen)).toBe('admin')
  const [event] = await domain.database.query<{ data: object }>(
    sql`select data from event where type = 'key.rotated' order by cursor desc limit 1`,
  )
  expect(event!.data).toMatchObject({ keyId: before.adminKeyId, successorKeyId: after.adminKeyId })
  // Once is enough: the next start changes nothing, and has nothing to say.
  later(day / 2)
  expect(await start(another)).toEqual({ ...after, warning: null })
  later(day / 2 - 1)
  expect(await roleOf(chosen)).toBe('admin')
  later(1)
  expect(await roleOf(chosen)).toBeNull()
  expect(await roleOf(another)).toBe('admin')
})

test('a server that still has the key before is told until when, and takes nothing from the new one', async () => {
  await start(chosen)
  later(1)
  await start(another)
  const { warning } = await start(chosen)
  expect(warning).toContain(new Date(domain.clock.now.getTime() + day).toISOString())
  expect(await start(another)).toMatchObject({ warning: null })
  later(day)
  expect(await start(chosen)).toMatchObject({ warning: expect.stringContaining('has expired') })
  expect(await roleOf(another)).toBe('admin')
})

test('keys that people made are no part of it', async () => {
  const made = await createKey(domain.journal, { name: 'Ada', role: 'admin' }, systemActor)
  if (isRefusal(made)) throw made
  const { secret } = made
  later(1)
  await start(chosen)
  later(1)
  await start(another)
  later(day)
  expect(await roleOf(secret)).toBe('admin')
})

test('a configured key that exists with another role does not become an admin key', async () => {
  const made = await createKey(domain.journal, { name: 'a bot', role: 'responder' }, systemActor)
  if (isRefusal(made)) throw made
  expect(await start(made.secret)).toMatchObject({ adminKeyId: null, warning: expect.any(String) })
  expect(await roleOf(made.secret)).toBe('responder')
})
