import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { createSession, post } from '../support/ask.ts'
import { adminKey, startServer } from '../support/server.ts'
import { createBrowser } from './support/browser.ts'
import { answer, hang, startReceiver } from './support/receiver.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

it('tells a webhook and a browser of a request, once with two servers, and takes it back', async () => {
  await using hook = await startReceiver()
  await using phone = await startReceiver()
  const environment = { HOLDPOINT_NOTIFY_WEBHOOK_URL: hook.url, HOLDPOINT_WEBHOOK_SECRET: secret }
  await using one = await startServer({ environment })
  await using other = await startServer({ environment, connectionString: one.connectionString })
  const browser = createBrowser(`${phone.url}/push`)
  const key = adminKey
  expect(
    (await one.rest('POST', '/api/v1/push/subscriptions', { key, body: browser.subscription })).status,
  ).toBe(201)

  const session = await createSession(one)
  const { requestId } = (await post(one, session.id)).body
  await Promise.all([hook.until(1), phone.until(1)])
  const { headers, body } = hook.received[0]!
  expect(new Webhook(secret).verify(body.toString(), headers as Record<string, string>)).toMatchObject({
    type: 'elicitation.pending',
    data: { session: { id: session.id, url: `${one.url}/sessions/${session.id}` } },
  })

  const answered = { action_type: 'accept', content: {} }
  expect(
    (await other.rest('PATCH', `/api/v1/elicitations/${requestId}/respond`, { key, body: answered })).status,
  ).toBe(200)
  await Promise.all([hook.until(2), phone.until(2)])
  // Whatever else were sent would be sent before the servers have gone away.
  await Promise.all([one.app.close(), other.app.close()])
  expect(hook.received.map((each) => each.json().type)).toEqual([
    'elicitation.pending',
    'elicitation.resolved',
  ])
  expect(phone.received.map((each) => browser.read(each.body).kind)).toEqual(['pending', 'resolved'])
})

it('tries again by itself, and goes away in time although a receiver hangs', async () => {
  await using hook = await startReceiver()
  await using server = await startServer({ environment: { HOLDPOINT_NOTIFY_WEBHOOK_URL: hook.url } })
  hook.behave(answer(500))
  const session = await createSession(server)
  await post(server, session.id)
  await hook.until(1)
  hook.behave(hang)
  await hook.until(2)
  expect(hook.received[1]!.headers['webhook-id']).toBe(hook.received[0]!.headers['webhook-id'])
  const began = performance.now()
  await server.app.close()
  expect(performance.now() - began).toBeLessThan(10_000)
  expect(server.logLines.join()).toContain('HOLDPOINT_WEBHOOK_SECRET is not')
})

it('tells what happened just before it goes away', async () => {
  await using hook = await startReceiver()
  await using server = await startServer({ environment: { HOLDPOINT_NOTIFY_WEBHOOK_URL: hook.url } })
  const session = await createSession(server)
  const cursor = async () => BigInt((await server.graphql('{ eventCursor }')).eventCursor)
  const before = await cursor()
  await post(server, session.id)
  await expect.poll(async () => (await cursor()) > before, { interval: 5 }).toBe(true)
  await server.app.close()
  expect(hook.received.map((each) => each.json().type)).toEqual(['elicitation.pending'])
})
