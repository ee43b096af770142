import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ensureAdminKey } from '../../src/auth/first-key.ts'
import { createKey, identify, revokeKey } from '../../src/auth/keys.ts'
import { isRefusal } from '../../src/base/refusal.ts'
import { sql } from '../../src/database/sql.ts'
import { systemActor } from '../../src/events/event.ts'
import { openDomain, type TestDomain } from '../support/domain.ts'

const chosen = 'a key that somebody chose'

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
  const another = await start(`${chosen}, the second`)
  expect(another).toMatchObject({ adminKeyId: expect.any(String), warning: null })
  expect(await start(chosen)).toMatchObject({ adminKeyId: another.adminKeyId })
})

test('a configured key that exists with another role does not become an admin key', async () => {
  const made = await createKey(domain.journal, { name: 'a bot', role: 'responder' }, systemActor)
  if (isRefusal(made)) throw made
  expect(await start(made.secret)).toMatchObject({ adminKeyId: null, warning: expect.any(String) })
  expect(await roleOf(made.secret)).toBe('responder')
})
