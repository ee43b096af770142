import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSession, post, requestId } from '../support/ask.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { doors, type Verdict } from '../support/surfaces.ts'

const clock = { aheadMs: 0 }
const now = () => new Date(Date.now() + clock.aheadMs)
let a: TestServer
let b: TestServer
let keys: { name: string; secret: string }[]
beforeAll(async () => {
  a = await startServer({ now })
  b = await startServer({ now, connectionString: a.connectionString })
  keys = await Promise.all(
    ['ada', 'bo', 'cy', 'di'].map(async (name) => {
      const { createApiKey } = await a.graphql(
        `mutation($name: String!) { createApiKey(input: { name: $name, role: RESPONDER }) { ... on CreateApiKeySuccess { secret } } }`,
        { name },
      )
      return { name, secret: createApiKey.secret }
    }),
  )
})
afterAll(async () => {
  await b[Symbol.asyncDispose]()
  await a[Symbol.asyncDispose]()
})

const actions = ['accept', 'decline', 'cancel'] as const

it('of concurrent answers on all surfaces of two servers one wins, and every other is told who, in 20 rounds', {
  timeout: 120_000,
}, async () => {
  const session = await createSession(a)
  for (let round = 0; round < 20; round++) {
    const id = requestId()
    await post(a, session.id, { id })
    const tries = keys.flatMap((key, k) =>
      doors.map((door, d) => ({
        key,
        door,
        action: actions[(k + d + round) % 3]!,
        server: (k + d) % 2 === 0 ? a : b,
      })),
    )
    const verdicts = await Promise.all(
      tries.map(async ({ key, door, action, server }) => ({
        key,
        action,
        verdict: await door.answer(server, { requestId: id, action, key: key.secret }),
      })),
    )
    const { elicitation } = await a.graphql(
      `query($r: String!) { elicitation(requestId: $r) { status respondedAt respondedBy { name } } }`,
      { r: id },
    )
    const winner = {
      status: elicitation.status.toLowerCase(),
      respondedBy: elicitation.respondedBy.name,
      respondedAt: elicitation.respondedAt,
    }
    for (const { key, action, verdict } of verdicts) {
      // The same key with the same decision by another door is the same success again.
      const sameDecision = key.name === winner.respondedBy && action === winner.status
      expect(verdict).toEqual(
        sameDecision ? { outcome: action } : { outcome: 'ALREADY_RESOLVED', won: winner },
      )
    }
    expect(verdicts.some(({ verdict }) => verdict.outcome === winner.status)).toBe(true)
    expect(await resolvedEvents(session.id, id)).toBe(1)
  }
})

it('an answer against the clock: either it wins or it is told expired, and the poll says the same, in 20 rounds', {
  timeout: 120_000,
}, async () => {
  const outcomes = new Set<string>()
  for (let round = 0; round < 20; round++) {
    const session = await createSession(a)
    const id = requestId()
    await post(a, session.id, { id })
    clock.aheadMs += 59 * 60_000
    const expire = async () => {
      clock.aheadMs += 2 * 60_000
      return (await b.rest('GET', `/api/v1/elicitations/${id}?wait=0`)).body.action
    }
    const answering = doors.map((door, i) =>
      door.answer(i % 2 ? a : b, { requestId: id, action: 'accept', key: keys[i]!.secret }),
    )
    // Sometimes the clock strikes first, sometimes an answer is on its way already.
    for (let turn = 0; turn < round % 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    const [polled, ...verdicts] = await Promise.all([expire(), ...answering])
    const { elicitation } = await a.graphql(`query($r: String!) { elicitation(requestId: $r) { status } }`, {
      r: id,
    })
    const final = elicitation.status.toLowerCase()
    expect(polled).toBe(final)
    if (final === 'expired')
      for (const verdict of verdicts as Verdict[]) expect(verdict).toEqual({ outcome: 'EXPIRED' })
    else expect((verdicts as Verdict[]).filter(({ outcome }) => outcome === 'accept').length).toBe(1)
    expect(await resolvedEvents(session.id, id)).toBe(1)
    outcomes.add(final)
  }
  expect(outcomes.size).toBeGreaterThan(0)
})

it('a re-post that races its first one creates one request', async () => {
  const session = await createSession(a)
  for (let round = 0; round < 10; round++) {
    const id = requestId()
    const results = await Promise.all(
      [a, b, a, b].map((server) =>
        post(server, session.id, {
          id,
          meta: { 'com.pulsemcp/expires-at': new Date(now().getTime() + 120_000).toISOString() },
        }),
      ),
    )
    expect(results.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201])
    expect(new Set(results.map(({ body }) => JSON.stringify(body._meta['holdpoint/withdraw']))).size).toBe(1)
    await doors[0]!.answer(a, { requestId: id, action: 'cancel' })
  }
})

async function resolvedEvents(session: string, id: string): Promise<number> {
  const { session: found } = await a.graphql(
    `query($id: ID!) { session(id: $id) { timeline(last: 100) { edges { node { type elicitation { requestId } } } } } }`,
    { id: session },
  )
  return found.timeline.edges.filter(
    ({ node }: any) => node.type === 'elicitation.resolved' && node.elicitation.requestId === id,
  ).length
}
