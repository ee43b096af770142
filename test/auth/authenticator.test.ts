import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthenticator } from '../../src/auth/authenticator.ts'
import { createKey } from '../../src/auth/keys.ts'
import { isRefusal } from '../../src/base/refusal.ts'
import type { ApiKey } from '../../src/database/generated/prisma/client.ts'
import { sql } from '../../src/database/sql.ts'
import { systemActor } from '../../src/events/event.ts'
import { openDomain, type TestDomain } from '../support/domain.ts'

let domain: TestDomain
beforeAll(async () => {
  domain = await openDomain()
})
afterAll(async () => {
  await domain?.[Symbol.asyncDispose]()
})

test('the last use of keys is written without waiting for whoever is changing one of them', async () => {
  const made = async (name: string) => {
    const key = await createKey(domain.journal, { name, role: 'viewer' }, systemActor)
    if (isRefusal(key)) throw key
    return key
  }
  const [changing, other] = [await made('one that is being changed'), await made('another')]
  const errors: unknown[] = []
  const authenticator = createAuthenticator({
    journal: domain.journal,
    secret: 'a secret for tests',
    onError: (error) => errors.push(error),
  })
  for (const { secret } of [changing, other])
    expect(await authenticator.identifyKey(secret, null)).not.toBeNull()
  await domain.database.transaction(async (tx) => {
    await tx.query(sql`update api_key set revoked_at = now() where id = ${changing.apiKey.id}`)
    await authenticator.stop()
  })
  const rows = await domain.database.query<ApiKey>(sql`select * from api_key order by created_at, id`)
  expect(rows.map(({ id, lastUsedAt }) => [id, lastUsedAt])).toEqual([
    [changing.apiKey.id, null],
    [other.apiKey.id, domain.clock.now],
  ])
  expect(errors).toEqual([])
})
