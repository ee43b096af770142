import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { confirmSchema, createSession, post, requestId } from '../support/ask.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { type Door, doors } from '../support/surfaces.ts'

const clock = { aheadMs: 0 }
let server: TestServer
beforeAll(async () => {
  server = await startServer({ now: () => new Date(Date.now() + clock.aheadMs) })
})
afterAll(() => server[Symbol.asyncDispose]())

describe.each(doors)('an answer through $name', (door: Door) => {
  it.each(['accept', 'decline', 'cancel'] as const)(
    'is a %s for the waiting server and everybody else',
    async (action) => {
      const { id, session } = await asked()
      expect(await door.answer(server, { requestId: id, action, note: 'because' })).toEqual({
        outcome: action,
      })
      const polled = await poll(id)
      expect(polled).toMatchObject({ action, content: null, _meta: { 'holdpoint/note': 'because' } })
      const { elicitation } = await server.graphql(
        `query($r: String!) { elicitation(requestId: $r) { status cause note respondedBy { name } session { status blockedOnElicitation } } }`,
        { r: id },
      )
      expect(elicitation).toEqual({
        status: action.toUpperCase(),
        cause: action === 'cancel' ? 'DISMISSED' : 'ANSWERED',
        note: 'because',
        respondedBy: { name: 'admin' },
        session: { status: 'RUNNING', blockedOnElicitation: false },
      })
      expect(await resolutions(session, id)).toBe(1)
    },
  )

  it('of a confirmation needs no content to mean yes', async () => {
    const { id } = await asked({ requestedSchema: confirmSchema })
    expect(await door.answer(server, { requestId: id, action: 'accept' })).toEqual({ outcome: 'accept' })
    expect(await poll(id)).toMatchObject({ action: 'accept', content: { confirm: true } })
  })

  it('that does not fit the form is refused by field, and the corrected one wins', async () => {
    const { id } = await asked({
      requestedSchema: {
        type: 'object',
        properties: { why: { type: 'string', title: 'Why', minLength: 5 }, n: { type: 'integer' } },
        required: ['why'],
      },
    })
    expect(
      await door.answer(server, {
        requestId: id,
        action: 'accept',
        content: { why: 'eh', n: 'x', more: true },
      }),
    ).toEqual({
      outcome: 'INVALID_CONTENT',
      fields: {
        why: ['Use at least 5 characters (now 2).'],
        n: ['Enter a number.'],
        more: [expect.any(String)],
      },
    })
    expect(await door.answer(server, { requestId: id, action: 'accept' })).toMatchObject({
      outcome: 'INVALID_CONTENT',
    })
    expect(
      await door.answer(server, { requestId: id, action: 'accept', content: { why: 'because' } }),
    ).toEqual({ outcome: 'accept' })
  })

  it('comes too late after the deadline, though no sweep has run', async () => {
    const { id } = await asked()
    clock.aheadMs += 61 * 60_000
    expect(await door.answer(server, { requestId: id, action: 'accept' })).toEqual({ outcome: 'EXPIRED' })
    expect(await poll(id)).toMatchObject({ action: 'expired', content: null })
  })

  it('is the same success again for the same decision, and refused for another one', async () => {
    const { id, session } = await asked({ requestedSchema: confirmSchema })
    await door.answer(server, { requestId: id, action: 'accept', content: { confirm: true } })
    for (const again of doors)
      expect(
        await again.answer(server, { requestId: id, action: 'accept', content: { confirm: true } }),
      ).toEqual({ outcome: 'accept' })
    expect(
      await door.answer(server, { requestId: id, action: 'accept', content: { confirm: false } }),
    ).toMatchObject({ outcome: 'ALREADY_RESOLVED', won: { status: 'accept', respondedBy: 'admin' } })
    expect(await door.answer(server, { requestId: id, action: 'decline' })).toMatchObject({
      outcome: 'ALREADY_RESOLVED',
    })
    expect(await resolutions(session, id)).toBe(1)
  })

  it('of an unknown request is not found', async () => {
    expect(await door.answer(server, { requestId: requestId(), action: 'accept' })).toEqual({
      outcome: 'NOT_FOUND',
    })
  })

  it('from the agent itself is refused and goes on the record', async () => {
    const { id, session } = await asked()
    const other = await asked()
    const { createApiKey } = await server.graphql(
      `mutation($s: ID!) { createApiKey(input: { name: "agent", role: OPERATOR, sessionId: $s }) { ... on CreateApiKeySuccess { secret } } }`,
      { s: session },
    )
    for (const action of ['accept', 'decline', 'cancel'] as const)
      expect(await door.answer(server, { requestId: id, action, key: createApiKey.secret })).toEqual({
        outcome: 'SELF_APPROVAL',
      })
    expect(['FORBIDDEN', 'NOT_FOUND']).toContain(
      (await door.answer(server, { requestId: other.id, action: 'accept', key: createApiKey.secret }))
        .outcome,
    )
    expect(await poll(id)).toMatchObject({ action: 'pending' })
    const refused = await events(session, 'elicitation.answer_refused')
    expect(refused).toHaveLength(1)
    expect(refused[0].actor.name).toBe('agent')
  })
})

async function asked(more: Record<string, unknown> = {}): Promise<{ id: string; session: string }> {
  const session = await createSession(server)
  const id = requestId()
  expect((await post(server, session.id, { id, ...more })).status).toBe(201)
  return { id, session: session.id }
}

async function poll(id: string) {
  const { status, body } = await server.rest('GET', `/api/v1/elicitations/${id}?wait=0`)
  expect(status).toBe(200)
  return body
}

async function events(session: string, type: string): Promise<any[]> {
  const { session: found } = await server.graphql(
    `query($id: ID!) { session(id: $id) { timeline(last: 50) { edges { node { type actor { name } elicitation { requestId } } } } } }`,
    { id: session },
  )
  return found.timeline.edges.map(({ node }: any) => node).filter((node: any) => node.type === type)
}

async function resolutions(session: string, id: string): Promise<number> {
  return (await events(session, 'elicitation.resolved')).filter(
    ({ elicitation }) => elicitation.requestId === id,
  ).length
}
