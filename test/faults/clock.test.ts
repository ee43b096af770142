import { expect, it } from 'vitest'
import { createSession, post, requestId } from '../support/ask.ts'
import { adminKey, startServer } from '../support/server.ts'

it('a clock that jumps over the deadline, and back, changes no final status', {
  timeout: 60_000,
}, async () => {
  let jumpMs = 0
  await using server = await startServer({ now: () => new Date(Date.now() + jumpMs) })
  const session = await createSession(server)
  const id = requestId()
  await post(server, session.id, { id })
  const poll = async () => (await server.rest('GET', `/api/v1/elicitations/${id}?wait=0`)).body.action
  const answer = () =>
    server.rest('PATCH', `/api/v1/elicitations/${id}/respond`, {
      key: adminKey,
      body: { action_type: 'accept' },
    })
  expect(await poll()).toBe('pending')

  jumpMs = 61 * 60_000
  // Nobody has swept or polled yet, and the answer already comes too late.
  expect(await answer()).toMatchObject({ status: 422, body: { code: 'EXPIRED' } })
  expect(await poll()).toBe('expired')

  jumpMs = -61 * 60_000
  expect(await poll()).toBe('expired')
  expect(await answer()).toMatchObject({ status: 422, body: { code: 'EXPIRED' } })
})

it('a poll that is held while the clock jumps over the deadline ends as expired', {
  timeout: 60_000,
}, async () => {
  let jumpMs = 0
  await using server = await startServer({ now: () => new Date(Date.now() + jumpMs) })
  const session = await createSession(server)
  const id = requestId()
  await post(server, session.id, { id })
  const held = server.rest('GET', `/api/v1/elicitations/${id}?wait=2`)
  await expect
    .poll(async () => (await server.rest('GET', '/metrics')).body)
    .toMatch(/^holdpoint_held_polls 1$/m)
  jumpMs = 61 * 60_000
  expect((await held).body).toMatchObject({ action: 'expired' })
})
