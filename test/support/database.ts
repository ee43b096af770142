import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  /** A superuser's address. */
  connectionString: string
  /** Ends whoever is still connected. */
  drop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A database of one's own in the run's PostgreSQL: migrated and empty, or, with `empty`, without any table. */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const { maintenance, template } = inject('postgres')
  await onMaintenanceDatabase(`create database ${name} template ${empty ? 'template0' : template}`)
  const address = new URL(maintenance)
  address.pathname = name
  const drop = () => onMaintenanceDatabase(`drop database if exists ${name} with (force)`)
  return { connectionString: address.href, drop, [Symbol.asyncDispose]: drop }
}

async function onMaintenanceDatabase(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgres').maintenance })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
