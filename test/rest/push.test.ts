import { fastifyCookie } from '@fastify/cookie'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Authenticator, cookieName, createAuthenticator } from '../../src/auth/authenticator.ts'
import { createKey } from '../../src/auth/keys.ts'
import type { Role } from '../../src/auth/role.ts'
import { signInBrowser } from '../../src/auth/sign-in.ts'
import { isRefusal } from '../../src/base/refusal.ts'
import { systemActor } from '../../src/events/event.ts'
import { createHttp } from '../../src/http.ts'
import { attemptsMax, retryDelayMs } from '../../src/notify/outbox.ts'
import { listSubscriptions } from '../../src/notify/push-subscription.ts'
import { registerNotifications } from '../../src/rest/notifications.ts'
import { registerPush } from '../../src/rest/push.ts'
import { createBrowser } from '../notify/support/browser.ts'
import { type House, openHouse, publicUrl } from '../notify/support/house.ts'
import { answer } from '../notify/support/receiver.ts'

const secret = 'a secret for tests'
let house: House
let http: FastifyInstance
let authenticator: Authenticator

beforeAll(async () => {
  house = await openHouse()
  const { journal } = house.domain
  authenticator = createAuthenticator({ journal, secret, onError: () => {} })
  http = createHttp({ log: pino({ level: 'silent' }), trustProxy: false })
  const { notifier } = house.server
  registerPush(http, { journal, authenticator, push: notifier.push, publicUrl })
  registerNotifications(http, { journal, authenticator, notifier })
})
afterAll(async () => {
  await http?.close()
  await authenticator?.stop()
  await house?.[Symbol.asyncDispose]()
})
beforeEach(() => house.receiver.behave(answer(200)))

async function keyOf(role: Role, sessionId: string | null = null) {
  const made = await createKey(house.domain.journal, { name: role, role, sessionId }, systemActor)
  if (isRefusal(made)) throw made
  return { key: made.secret, id: made.apiKey.id }
}

async function call(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  headers: Record<string, string>,
  payload?: object,
) {
  const response = await http.inject({ method, url, headers, payload })
  return { status: response.statusCode, body: response.body === '' ? null : response.json() }
}

it('takes the subscription of a browser that is signed in, and ends it', async () => {
  const { id } = await keyOf('viewer')
  const { token } = (await signInBrowser(house.domain.journal, id))!
  const cookie = `${cookieName}=${encodeURIComponent(fastifyCookie.sign(token, secret))}`
  const signedIn = { cookie, 'sec-fetch-site': 'same-origin' }
  const browser = createBrowser(`${house.receiver.url}/push`)

  const { body } = await call('GET', '/api/v1/push/public-key', { cookie })
  expect(body).toEqual({ publicKey: house.server.notifier.push.publicKey })
  const path = '/api/v1/push/subscriptions'
  const created = await call('POST', path, signedIn, browser.subscription)
  expect(created).toEqual({
    status: 201,
    body: { id: expect.any(String), endpoint: browser.subscription.endpoint },
  })
  const [kept] = await listSubscriptions(house.domain.database, house.domain.clock.now)
  expect(kept).toMatchObject({ owner: id, apiKeyId: id })

  expect(await call('POST', path, { cookie }, browser.subscription)).toMatchObject({
    status: 403,
    body: { code: 'CROSS_SITE' },
  })
  const { endpoint } = browser.subscription
  for (let times = 0; times < 2; times++)
    expect(await call('DELETE', path, signedIn, { endpoint })).toEqual({ status: 204, body: null })
  expect(await listSubscriptions(house.domain.database, house.domain.clock.now)).toEqual([])
})

it('shows a test notification on the browser that asks for one, and says how that went', async () => {
  const { key } = await keyOf('responder')
  const browser = createBrowser(`${house.receiver.url}/push`)
  const headers = { 'x-api-key': key }
  const { endpoint } = browser.subscription
  expect(await call('POST', '/api/v1/push/test', headers, { endpoint })).toMatchObject({ status: 404 })
  await call('POST', '/api/v1/push/subscriptions', headers, browser.subscription)
  expect(await call('POST', '/api/v1/push/test', headers, { endpoint })).toEqual({
    status: 200,
    body: { delivered: true, detail: null },
  })
  expect(browser.read(house.receiver.received.at(-1)!.body)).toMatchObject({
    kind: 'pending',
    tag: 'test',
    url: publicUrl,
  })

  const other = await keyOf('responder')
  expect(await call('POST', '/api/v1/push/test', { 'x-api-key': other.key }, { endpoint })).toMatchObject({
    status: 404,
  })

  house.receiver.behave(answer(410, 'gone'))
  expect(await call('POST', '/api/v1/push/test', headers, { endpoint })).toEqual({
    status: 200,
    body: { delivered: false, detail: 'HTTP 410: gone' },
  })
  expect(await listSubscriptions(house.domain.database, house.domain.clock.now)).toEqual([])
})

it.each([
  ['GET', '/api/v1/push/public-key'],
  ['POST', '/api/v1/push/subscriptions'],
  ['DELETE', '/api/v1/push/subscriptions'],
  ['POST', '/api/v1/push/test'],
] as const)('is for people who are signed in: %s %s', async (method, url) => {
  const body = method === 'GET' ? undefined : createBrowser(`${house.receiver.url}/push`).subscription
  expect(await call(method, url, {}, body)).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } })
  expect(await call(method, url, { 'x-api-key': 'hp_nonsense' }, body)).toMatchObject({ status: 401 })
  const session = await house.domain.session()
  const { key } = await keyOf('viewer', session.id)
  expect(await call(method, url, { 'x-api-key': key }, body)).toMatchObject({
    status: 403,
    body: { code: 'FORBIDDEN' },
  })
})

it('says what is wrong with a subscription', async () => {
  const { key } = await keyOf('responder')
  const headers = { 'x-api-key': key }
  expect(await call('POST', '/api/v1/push/subscriptions', headers, { endpoint: 5 })).toMatchObject({
    status: 422,
    body: { code: 'INVALID_INPUT', message: expect.stringContaining('Send what the browser gives') },
  })
  expect(await call('DELETE', '/api/v1/push/subscriptions', headers, {})).toMatchObject({ status: 422 })
})

it('lists what was given up for an admin, who sends it again', async () => {
  const { domain, receiver, server } = house
  const { elicitation } = await domain.ask((await domain.session()).id)
  receiver.behave(answer(500, 'down'))
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    await server.tell()
    house.pass(retryDelayMs(attempt))
  }
  const admin = { 'x-api-key': (await keyOf('admin')).key }
  const { status, body } = await call('GET', '/api/v1/notifications?state=dead', admin)
  expect(status).toBe(200)
  expect(body.notifications).toEqual([
    {
      id: expect.any(String),
      type: 'elicitation.pending',
      channel: 'webhook',
      state: 'dead',
      attempts: attemptsMax,
      lastError: 'HTTP 500: down',
      sessionId: elicitation.sessionId,
      elicitationId: elicitation.id,
      dueAt: expect.any(String),
      createdAt: expect.any(String),
      settledAt: expect.any(String),
    },
  ])
  const [{ id }] = body.notifications
  expect(await call('GET', `/api/v1/notifications?before=${id}`, admin)).toEqual({
    status: 200,
    body: { notifications: [] },
  })

  const operator = { 'x-api-key': (await keyOf('operator')).key }
  const resend = `/api/v1/notifications/${id}/resend`
  expect(await call('GET', '/api/v1/notifications', operator)).toMatchObject({ status: 403 })
  expect(await call('POST', resend, operator)).toMatchObject({ status: 403 })
  expect(await call('POST', resend, {})).toMatchObject({ status: 401 })

  receiver.behave(answer(200))
  const before = receiver.received.length
  expect(await call('POST', resend, admin)).toMatchObject({
    status: 200,
    body: { notification: { id, state: 'waiting' } },
  })
  await receiver.until(before + 1)
  await server.notifier.settled()
  expect(await call('POST', resend, admin)).toMatchObject({
    status: 409,
    body: { code: 'INVALID_TRANSITION' },
  })
  expect(await call('POST', '/api/v1/notifications/nonsense/resend', admin)).toMatchObject({ status: 404 })
  expect(await call('GET', '/api/v1/notifications?state=lost', admin)).toMatchObject({ status: 422 })
  expect(await call('GET', '/api/v1/notifications?first=1000', admin)).toMatchObject({ status: 422 })
})
