import { describe, expect, test } from 'vitest'
import { newId } from '../../src/base/ids.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'
import { spyOnStatements } from '../support/statements.ts'

const elicitation =
  'id status summary listening form { confirmation fields { __typename name } } session { id title slug }'
const session = `id title status needsInputReason lostElicitation { summary } process { alive }
  pendingElicitations { ${elicitation} }
  elicitations(first: 3) { totalCount edges { node { ${elicitation} } } }
  timeline(last: 3) { totalCount edges { node { type session { title } elicitation { id session { id } } } } }`

const pages = {
  'sessions with all that belongs to them': `{ sessions(first: 100) { totalCount edges { node { ${session} } } } }`,
  'the attention queue with all that belongs to it': `{ attentionQueue(first: 100) { totalCount edges { node { ${session} } } } }`,
  'sessions with their pending requests': `{ sessions(first: 100) { totalCount edges { node { id pendingElicitations { ${elicitation} } } } } }`,
  'requests with their sessions': `{ elicitations(first: 100) { totalCount edges { node { ${elicitation} session { pendingElicitations { id } } } } } }`,
}

async function fill(server: GraphqlServer, sessions: number): Promise<void> {
  await Promise.all(
    Array.from({ length: sessions }, async (_, i) => {
      const { id } = await server.session({ title: `session ${i}` })
      for (let j = 0; j <= i % 3; j++) await server.elicit(id)
    }),
  )
}

describe('a page is a constant number of statements, at 5 rows and at 50', { timeout: 60_000 }, () => {
  test.each(Object.entries(pages))('%s', async (_what, query) => {
    await using server = await startGraphql()
    const count = async () => {
      // Somebody begins to listen, so that what was read before is not shared.
      server.presence.seen(newId())
      const statements = spyOnStatements(server)
      const data = await server.run<Record<string, { edges: unknown[] }>>(query)
      return { statements: statements.stop().length, rows: Object.values(data)[0]!.edges.length }
    }
    await fill(server, 5)
    await count()
    const few = await count()
    await fill(server, 45)
    const many = await count()
    expect(many.rows).toBeGreaterThanOrEqual(50)
    expect(many.statements).toBe(few.statements)
    expect(many.statements).toBeLessThanOrEqual(14)
  })
})
