import { afterAll, beforeAll, expect, test } from 'vitest'
import { sql } from '../../src/database/sql.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

const events = 100_000

let server: GraphqlServer
beforeAll(async () => {
  server = await startGraphql()
  // A year of a busy house, oldest first; what is looked for in an audit is rare, and as often as not long ago.
  await server.database.query(sql`
    insert into event (type, actor_kind, actor_name, at)
    select
      case when i % 2000 = 0 then 'sign_in.failed' when i % 5000 = 1 then 'key.revoked'
        when i % 2 = 0 then 'elicitation.created' else 'elicitation.resolved' end,
      case when i % 2000 = 0 then 'system' when i % 2 = 0 then 'mcp-server' else 'api-key' end,
      case when i % 2000 = 0 or i % 2 = 0 then null when i % 5000 = 1 then 'Grace' else 'Ada' end,
      '2020-01-01'::timestamptz + i * interval '5 minutes'
    from generate_series(1, ${events}::int) i`)
  // Every row is in the sample, so that the same plans come of it each time.
  await server.database.query(sql`alter table event alter column type set statistics 1000`)
  await server.database.query(sql`analyze event`)
}, 60_000)
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

interface Plan {
  'Node Type': string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

/** The rows that a plan touched in the table and its indexes, whether or not they were wanted. */
function touched(plan: Plan): number {
  const { 'Actual Rows': rows, 'Actual Loops': loops, Plans: below = [] } = plan
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  const here = plan['Node Type'].includes('Scan') ? (rows + removed) * loops : 0
  return here + below.reduce((sum, each) => sum + touched(each), 0)
}

/** Reads a page of the log, and plans each of its statements once more. */
async function rowsTouched(args: string): Promise<{ found: number; touched: number }> {
  const { pool } = server.database
  const { query } = pool
  const statements: { text: string; values: unknown[] }[] = []
  pool.query = ((...given: unknown[]) => {
    const [statement, values] = given as [string | { text: string; values?: unknown[] }, unknown[]?]
    const text = typeof statement === 'string' ? statement : statement.text
    if (/event/.test(text) && /order by|count/i.test(text) && !/writer|cursor > \$1/.test(text))
      statements.push({ text, values: values ?? (statement as { values?: unknown[] }).values ?? [] })
    return Reflect.apply(query, pool, given)
  }) as typeof query
  const { auditLog } = await server.run(
    `{ auditLog(first: 50, ${args}) { totalCount edges { node { type } } } }`,
  )
  pool.query = query
  expect(statements).toHaveLength(2)
  let sum = 0
  for (const { text, values } of statements) {
    const { rows } = await pool.query(`explain (analyze, format json) ${text}`, values)
    sum += touched(rows[0]['QUERY PLAN'][0].Plan)
  }
  return { found: auditLog.totalCount, touched: sum }
}

test.each([
  ['type: "key.revoked"', 20],
  ['type: "sign_in"', 50],
  ['type: "key.rotated"', 0],
  ['actor: "Grace"', 20],
  ['actor: "nobody"', 0],
  ['actor: "system", until: "2021-01-01T00:00:00Z"', 50],
  ['since: "2020-12-13T04:00:00Z", until: "2021-01-01T00:00:00Z"', 17],
  ['since: "2020-03-01T00:00:00Z", until: "2020-03-01T08:00:00Z"', 96],
  ['type: "key", since: "2020-03-01T00:00:00Z", until: "2020-04-01T00:00:00Z"', 2],
])('what is rare is found by an index: %s', async (args, expected) => {
  const { found, touched: rows } = await rowsTouched(args)
  expect(found).toBe(expected)
  expect(rows).toBeLessThan(events / 50)
})

test('what is frequent is counted, and its newest are found without reading the rest', async () => {
  const { auditLog } = await server.run(
    '{ auditLog(first: 3, type: "elicitation") { totalCount edges { node { type } } } }',
  )
  expect(auditLog.totalCount).toBe(events - 50 - 20)
  expect(auditLog.edges).toHaveLength(3)
})
