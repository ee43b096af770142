import pg from 'pg'
import { expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

async function tables({ connectionString }: TestDatabase): Promise<string[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const { rows } = await client.query(`select tablename from pg_tables where schemaname = 'public'`)
    return rows.map((row) => row.tablename)
  } finally {
    await client.end()
  }
}

test('a test database is migrated, and an empty one has no table', async () => {
  await using migrated = await createTestDatabase()
  await using empty = await createTestDatabase({ empty: true })
  expect(await tables(migrated)).toContain('elicitation')
  expect(await tables(empty)).toEqual([])
})

test('ten test databases can be made side by side, each with its own content', async () => {
  const databases = await Promise.all(Array.from({ length: 10 }, () => createTestDatabase()))
  expect(new Set(databases.map((database) => database.connectionString)).size).toBe(10)
  for (const database of databases) expect(await tables(database)).toContain('session')
  await Promise.all(databases.map((database) => database.drop()))
})

test('a test database can be dropped while somebody is connected to it, and twice', async () => {
  const database = await createTestDatabase()
  const client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  const cut = new Promise((resolve) => client.on('error', resolve))
  await database.drop()
  await cut
  await database.drop()
  await expect(tables(database)).rejects.toThrow(/does not exist/)
})
