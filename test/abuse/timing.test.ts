import { expect, it } from 'vitest'
import { median } from '../../bench/harness.ts'
import { createSession, post, requestId } from '../support/ask.ts'
import { startServer } from '../support/server.ts'

const samples = 300

it('a foreign request id and an unknown one look the same under a capability address, also to a stopwatch', async () => {
  await using server = await startServer({
    environment: {
      HOLDPOINT_GATE_ACCESS: 'capability',
      HOLDPOINT_TRUST_PROXY: '127.0.0.1',
      LOG_LEVEL: 'warn',
    },
  })
  const addressFor = async (sessionId: string): Promise<string> => {
    const { rotateGateToken } = await server.graphql(
      'mutation($s: ID!) { rotateGateToken(sessionId: $s) { ... on RotateGateTokenSuccess { gateToken { url } } } }',
      { s: sessionId },
    )
    return new URL(rotateGateToken.gateToken.url).pathname
  }
  const [mine, other] = [await createSession(server), await createSession(server)]
  const [ours, theirs] = [await addressFor(mine.id), await addressFor(other.id)]
  const foreign: string = (await post(server, other.id, {}, theirs)).body.requestId

  const bodies = new Set<string>()
  let polls = 0
  async function msOf(id: string): Promise<number> {
    // From another address each time: the limit on unknown ids is not what is measured.
    const headers = { 'x-forwarded-for': `10.1.${polls >> 8}.${polls++ & 255}` }
    const begun = performance.now()
    const { status, body } = await server.rest('GET', `${ours}/${id}?wait=0`, { headers })
    const ms = performance.now() - begun
    bodies.add(`${status} ${JSON.stringify(body)}`)
    return ms
  }
  for (let i = 0; i < 30; i++) await msOf(i % 2 ? foreign : requestId())
  const taken: { foreign: number[]; unknown: number[] } = { foreign: [], unknown: [] }
  // By turns, so that a slow moment of the machine hits both.
  for (let i = 0; i < samples; i++) {
    taken.foreign.push(await msOf(foreign))
    taken.unknown.push(await msOf(requestId()))
  }
  expect([...bodies]).toHaveLength(1)
  // A look-up that only one of them had to make would show as a factor.
  const ratio = median(taken.foreign) / median(taken.unknown)
  expect(ratio).toBeGreaterThan(0.6)
  expect(ratio).toBeLessThan(1.7)
})
