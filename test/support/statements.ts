import type { GraphqlServer } from './graphql.ts'

/** Collects the statements that go to the pool. Transactions have connections of their own and are not part of it. */
export function spyOnStatements({ database: { pool } }: Pick<GraphqlServer, 'database'>): {
  stop(): string[]
} {
  const statements: string[] = []
  const { query } = pool
  pool.query = ((...args: unknown[]) => {
    const [statement] = args as [string | { text: string }]
    const text = typeof statement === 'string' ? statement : statement.text
    // What a process does by itself, whoever asks what meanwhile.
    if (
      !/from event where cursor > \$1 order by|pg_locks|pg_notify|update api_key|from api_key|set last_polled_at/.test(
        text,
      )
    )
      statements.push(text)
    return Reflect.apply(query, pool, args)
  }) as typeof query
  return {
    stop() {
      pool.query = query
      return statements
    },
  }
}
