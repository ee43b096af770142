import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRefusal } from '../../src/base/refusal.ts'
import { answer } from '../../src/elicitation/answer.ts'
import { systemActor } from '../../src/events/event.ts'
import { commandSession } from '../../src/session/commands.ts'
import { person } from '../support/domain.ts'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

let servers: [GraphqlServer, GraphqlServer]
let key: string
beforeAll(async () => {
  const first = await startGraphql()
  const second = await startGraphql({ connectionString: first.connectionString })
  servers = [first, second]
  key = (await first.key({ role: 'viewer' })).secret
})
afterAll(async () => {
  await servers?.[1][Symbol.asyncDispose]()
  await servers?.[0][Symbol.asyncDispose]()
})

/** Writers on both servers at once: requests, answers, pauses and resumes, each in a session of its own. */
async function write(rounds: number): Promise<void> {
  const writer = async (server: GraphqlServer, offset: number) => {
    const session = await server.session()
    for (let i = 0; i < rounds; i++) {
      const asked = await server.elicit(session.id)
      if ((i + offset) % 3 === 0) await commandSession(server.journal, session.id, 'pause', systemActor)
      else {
        const outcome = await answer(server.desk, asked.elicitation, { action: 'decline' }, person, {
          surface: 'graphql',
          address: null,
        })
        expect(isRefusal(outcome)).toBe(false)
      }
      if ((i + offset) % 3 === 0) await commandSession(server.journal, session.id, 'resume', systemActor)
    }
    if (offset % 2 === 0) await server.elicit(session.id)
  }
  await Promise.all(Array.from({ length: 8 }, (_, i) => writer(servers[i % 2]!, i)))
}

test('across reconnects to either server, by either door, no event is lost, repeated or out of order', async () => {
  const [first] = servers
  await first.tail.caughtUp()
  const start = String(first.tail.position)
  const seen: string[] = []

  async function read(): Promise<void> {
    // Reconnects after 1, 2, 3, 5, 8, 13 or 21 events, without a break between.
    const counts = [1, 2, 3, 5, 8, 13, 21]
    for (let connection = 0; ; connection++) {
      const server = servers[connection % 2]!
      const client =
        connection % 4 < 2 ? server.websocket({ connectionParams: { apiKey: key } }) : server.sse(key)
      const results = client.iterate<{ timeline: { cursor: string; session: { title: string } } }>({
        query: 'subscription($after: EventCursor) { timeline(after: $after) { cursor session { title } } }',
        variables: { after: seen.at(-1) ?? start },
      })
      for (let i = 0; i < counts[connection % counts.length]!; i++) {
        const { cursor, session } = (await results.next()).value!.data!.timeline
        seen.push(cursor)
        if (session.title === 'the end') return client.dispose()
      }
      await results.return!()
      client.dispose()
    }
  }

  const reading = read()
  await write(8)
  await first.session({ title: 'the end', start: false })
  await reading

  const { rows } = await first.database.pool.query(
    'select cursor from event where cursor > $1 order by cursor',
    [start],
  )
  expect(seen.length).toBeGreaterThan(150)
  expect(seen).toEqual(rows.map(({ cursor }) => cursor))
}, 120_000)

test('a position, a snapshot and a subscription after the position agree with the queue at the end', async () => {
  const [first, second] = servers
  const writing = write(6)
  const reconciled = await Promise.all(
    [first, second, first, second].map(async (server, i) => {
      await new Promise((resolve) => setTimeout(resolve, 40 * i))
      const other = servers[(i + 1) % 2]!
      const { eventCursor: after } = await server.run('{ eventCursor }')
      const { attentionQueue } = await server.run('{ attentionQueue(first: 100) { edges { node { id } } } }')
      const queue = new Set<string>(
        attentionQueue.edges.map((edge: { node: { id: string } }) => edge.node.id),
      )
      // The position of one server is good on another, wherever that one has got to.
      const results = other
        .sse(key)
        .iterate<{ needsInput: { cursor: string; kind: string; session: { id: string } } }>({
          query:
            'subscription($after: EventCursor) { needsInput(after: $after) { cursor kind session { id } } }',
          variables: { after },
        })
      let position = BigInt(after)
      return {
        queue,
        async follow(through: bigint) {
          while (position < through) {
            const { kind, cursor, session } = (await results.next()).value!.data!.needsInput
            position = BigInt(cursor)
            if (kind === 'LEFT') queue.delete(session.id)
            else queue.add(session.id)
          }
          await results.return!()
        },
      }
    }),
  )
  await writing
  const { rows } = await first.database.pool.query(
    'select max(cursor) as last from event where attention is not null',
  )
  await Promise.all(reconciled.map((each) => each.follow(BigInt(rows[0].last))))
  const { attentionQueue } = await first.run(
    '{ attentionQueue(first: 100) { totalCount edges { node { id } } } }',
  )
  const expected = attentionQueue.edges.map((edge: { node: { id: string } }) => edge.node.id).toSorted()
  expect(expected.length).toBeGreaterThan(0)
  for (const { queue } of reconciled) expect([...queue].toSorted()).toEqual(expected)
}, 60_000)
