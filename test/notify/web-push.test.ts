import { createVerify } from 'node:crypto'
import { expect, it } from 'vitest'
import { createKey, revokeKey } from '../../src/auth/keys.ts'
import { pushSubscriptionsPerOwnerMax } from '../../src/base/limits.ts'
import { isRefusal } from '../../src/base/refusal.ts'
import { expireDue } from '../../src/elicitation/expire.ts'
import { systemActor } from '../../src/events/event.ts'
import { listSubscriptions, subscribe, unsubscribe } from '../../src/notify/push-subscription.ts'
import { createWebPush, loadVapidKeys } from '../../src/notify/web-push.ts'
import { commandSession } from '../../src/session/commands.ts'
import { createBrowser } from './support/browser.ts'
import { type House, openHouse, publicUrl } from './support/house.ts'
import { answer } from './support/receiver.ts'

const minute = 60_000
const house = () => openHouse({ hasWebhook: false })

/** A browser that somebody subscribed with a key, and that key. */
async function subscribed({ domain, receiver }: House, { expiresAt = null as Date | null } = {}) {
  const made = await createKey(domain.journal, { name: 'a phone', role: 'responder', expiresAt }, systemActor)
  if (isRefusal(made)) throw made
  const browser = createBrowser(`${receiver.url}/push/${made.apiKey.id}`)
  const owner = { id: made.apiKey.id, apiKeyId: made.apiKey.id }
  const subscription = await subscribe(domain.journal, browser.subscription, owner, 'any')
  if (isRefusal(subscription)) throw subscription
  return { ...browser, id: subscription.id, keyId: made.apiKey.id, path: `/push/${made.apiKey.id}` }
}

it('shows a request at once on every subscribed browser, and takes it back from all when it is answered', async () => {
  await using its = await house()
  const { domain, receiver, server } = its
  const browsers = [await subscribed(its), await subscribed(its), await subscribed(its)]
  const session = await domain.session()
  const { elicitation } = await domain.ask(session.id, { message: `Use token=abcdef?\n${'x'.repeat(200)}` })
  await server.tell()
  expect(receiver.received.map(({ path }) => path).toSorted()).toEqual(
    browsers.map(({ path }) => path).toSorted(),
  )
  for (const browser of browsers) {
    const { headers, body } = receiver.received.find(({ path }) => path === browser.path)!
    expect(browser.read(body)).toEqual({
      kind: 'pending',
      tag: elicitation.id,
      title: 'Approval request: A test',
      body: expect.stringMatching(/^delete_tenant: Use token=\[redacted\]\nx{128}…$/),
      url: `${publicUrl}/sessions/${session.id}`,
    })
    expect(headers).toMatchObject({
      ttl: '3600',
      urgency: 'high',
      topic: elicitation.id.replaceAll('-', ''),
      'content-encoding': 'aes128gcm',
    })
    expect(body.toString('latin1')).not.toContain(elicitation.requestId)
  }

  await its.answer(elicitation)
  await server.tell()
  await server.tell()
  expect(receiver.received).toHaveLength(6)
  for (const { headers, body, path } of receiver.received.slice(3)) {
    const browser = browsers.find((each) => each.path === path)!
    expect(browser.read(body)).toMatchObject({
      kind: 'resolved',
      tag: elicitation.id,
      title: 'Accepted: A test',
    })
    expect(headers.topic).toBe(elicitation.id.replaceAll('-', ''))
  }
  // One line on the timeline, not one for each browser.
  expect((await its.events('notification.sent')).map(({ data }) => data.channel)).toEqual(['push'])
})

it('is signed for the push service that it goes to, with the key that the browser subscribed to', async () => {
  await using its = await house()
  const { domain, receiver, server } = its
  await subscribed(its)
  await domain.ask((await domain.session()).id)
  await server.tell()
  const { authorization } = receiver.received[0]!.headers
  const [, token, key] = /^vapid t=(.+), k=(.+)$/.exec(authorization!)!
  expect(key).toBe(server.notifier.push.publicKey)
  const [header, claims, signature] = token!.split('.')
  expect(JSON.parse(Buffer.from(claims!, 'base64url').toString())).toMatchObject({
    aud: receiver.url,
    sub: publicUrl,
  })
  const point = Buffer.from(key!, 'base64url')
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  }
  const verified = createVerify('sha256')
    .update(`${header}.${claims}`)
    .verify({ key: jwk, format: 'jwk', dsaEncoding: 'ieee-p1363' }, Buffer.from(signature!, 'base64url'))
  expect(verified).toBe(true)
})

it('says nothing of a request that was answered before anybody could be told', async () => {
  await using its = await house()
  const { domain, receiver, server } = its
  await subscribed(its)
  const { elicitation } = await domain.ask((await domain.session()).id)
  await its.answer(elicitation)
  await server.tell()
  expect(receiver.received).toEqual([])
  expect((await its.rows()).map(({ state }) => state)).toEqual(['dropped', 'dropped'])
})

it('does not take back what a browser was never shown', async () => {
  await using its = await house()
  const { domain, receiver, server } = its
  const { elicitation } = await domain.ask((await domain.session()).id)
  await server.tell()
  await subscribed(its)
  await its.answer(elicitation)
  await server.tell()
  expect(receiver.received).toEqual([])
})

it('takes back what may have been shown although no attempt got an answer', async () => {
  await using its = await house()
  const { domain, receiver, server } = its
  const browser = await subscribed(its)
  receiver.behave(answer(500))
  const { elicitation } = await domain.ask((await domain.session()).id)
  await server.tell()
  await its.answer(elicitation)
  receiver.behave(answer(201))
  await server.tell()
  expect(receiver.received.map(({ body }) => browser.read(body).kind)).toEqual(['pending', 'resolved'])
})

it('is taken back when the request expires', async () => {
  await using its = await house()
  const { domain, receiver, server } = its
  const browser = await subscribed(its)
  await domain.ask((await domain.session()).id)
  await server.tell()
  its.pass(61 * minute)
  await expireDue(domain.journal)
  await server.tell()
  expect(receiver.received.map(({ body }) => browser.read(body).title)).toEqual([
    'Approval request: A test',
    'Expired: A test',
  ])
})

it.each([404, 410])('forgets a browser whose push service answers %s', async (status) => {
  await using its = await house()
  const { domain, receiver, server } = its
  await subscribed(its)
  receiver.behave(answer(status))
  const session = await domain.session()
  await domain.ask(session.id)
  await server.tell()
  expect(await listSubscriptions(domain.database, domain.clock.now)).toEqual([])
  await domain.ask(session.id)
  its.pass(60 * minute)
  await server.tell()
  expect(receiver.received).toHaveLength(1)
})

it('tries again when a push service fails, and keeps the browser', async () => {
  await using its = await house()
  const { domain, receiver, server } = its
  await subscribed(its)
  receiver.behave(answer(429))
  await domain.ask((await domain.session()).id)
  await server.tell()
  receiver.behave(answer(201))
  its.pass(5_000)
  await server.tell()
  expect(receiver.received).toHaveLength(2)
  expect((await its.rows())[0]).toMatchObject({ state: 'sent', attempts: 2 })
  expect(await listSubscriptions(domain.database, domain.clock.now)).toHaveLength(1)
})

it('does not tell of a request after its deadline', async () => {
  await using its = await house()
  const { domain, receiver, server } = its
  await subscribed(its)
  await domain.ask((await domain.session()).id)
  its.pass(61 * minute)
  await server.tell()
  expect(receiver.received).toEqual([])
})

it('tells of pauses and failures', async () => {
  await using its = await house()
  const { domain, receiver, server } = its
  const browser = await subscribed(its)
  const paused = await domain.session()
  const failed = await domain.session()
  await commandSession(domain.journal, paused.id, 'pause', systemActor)
  await commandSession(domain.journal, failed.id, 'fail', systemActor, { reason: 'exit 1: secret=abc' })
  its.pass(minute)
  await server.tell()
  const messages = receiver.received.map(({ body }) => browser.read(body))
  expect(messages.find(({ tag }) => tag === paused.id)).toEqual({
    kind: 'pending',
    tag: paused.id,
    title: 'Waiting for you: A test',
    body: 'The agent has ended its turn.',
    url: `${publicUrl}/sessions/${paused.id}`,
  })
  expect(messages.find(({ tag }) => tag === failed.id)).toMatchObject({
    title: 'Failed: A test',
    body: 'exit 1: secret=[redacted]',
  })
})

it('ends with the key behind it when that is revoked, also for what is already on its way', async () => {
  await using its = await house()
  const { domain, receiver, server } = its
  const browser = await subscribed(its)
  const session = await domain.session()
  receiver.behave(answer(500))
  await domain.ask(session.id)
  await server.tell()
  await revokeKey(domain.journal, browser.keyId, systemActor)
  its.pass(minute)
  await domain.ask(session.id)
  await server.tell()
  expect(receiver.received).toHaveLength(1)
  expect(await listSubscriptions(domain.database, domain.clock.now)).toEqual([])
})

it('ends with the key behind it when that expires', async () => {
  await using its = await house()
  const { domain, receiver, server } = its
  await subscribed(its, { expiresAt: new Date(domain.clock.now.getTime() + minute) })
  its.pass(minute)
  await domain.ask((await domain.session()).id)
  await server.tell()
  expect(receiver.received).toEqual([])
  await server.notifier.prune()
  expect(
    await domain.database.query({ text: 'select 1 from push_subscription', values: [], name: '' }),
  ).toEqual([])
})

it('knows a browser by its endpoint, whoever subscribes it again', async () => {
  await using its = await house()
  const { domain } = its
  const browser = await subscribed(its)
  const owner = { id: 'user:somebody', apiKeyId: null }
  const again = await subscribe(domain.journal, browser.subscription, owner, 'any')
  expect(again).toMatchObject({ id: browser.id, owner: 'user:somebody', apiKeyId: null })
  expect(await unsubscribe(domain.database, browser.subscription.endpoint)).toBe(true)
  expect(await unsubscribe(domain.database, browser.subscription.endpoint)).toBe(false)
})

it('keeps as many browsers of one key as people have, and forgets the oldest', async () => {
  await using its = await house()
  const { domain } = its
  const owner = { id: 'user:somebody', apiKeyId: null }
  for (let i = 0; i <= pushSubscriptionsPerOwnerMax; i++) {
    its.pass(1)
    await subscribe(domain.journal, createBrowser(`https://push.example/${i}`).subscription, owner, 'any')
  }
  const kept = await listSubscriptions(domain.database, domain.clock.now)
  expect(kept).toHaveLength(pushSubscriptionsPerOwnerMax)
  expect(kept.map(({ endpoint }) => endpoint)).not.toContain('https://push.example/0')
})

it.each([
  ['http', 'http://8.8.8.8/x', 'https'],
  ['loopback', 'https://127.0.0.1/x', 'public internet'],
  ['a name that is loopback', 'https://localhost/x', 'public internet'],
  ['a private network', 'https://10.0.0.8/x', 'public internet'],
  ['the metadata of a cloud', 'https://169.254.169.254/latest', 'public internet'],
  ['loopback in IPv6', 'https://[::1]/x', 'public internet'],
  ['loopback in other words', 'https://0177.0.0.1/x', 'public internet'],
  ['credentials', 'https://a:b@8.8.8.8/x', 'credentials'],
  ['no address', 'nonsense', 'not an address'],
])('refuses an endpoint with %s', async (_what, endpoint, because) => {
  await using its = await house()
  const owner = { id: 'user:somebody', apiKeyId: null }
  const refusal = await subscribe(its.domain.journal, createBrowser(endpoint).subscription, owner, 'public')
  expect(refusal).toMatchObject({ code: 'INVALID_INPUT' })
  expect(String(refusal)).toContain(because)
})

it.each([
  ['nothing', undefined],
  ['a text', 'https://push.example'],
  ['no keys', { endpoint: 'https://push.example/1' }],
  [
    'a key that is no point',
    { endpoint: 'https://p.example/1', keys: { p256dh: 'A'.repeat(87), auth: 'A'.repeat(22) } },
  ],
  [
    'a secret that is too short',
    {
      ...createBrowser('https://p.example/1').subscription,
      keys: { ...createBrowser('https://p.example/1').subscription.keys, auth: 'AAAA' },
    },
  ],
  ['an endpoint without end', createBrowser(`https://push.example/${'x'.repeat(3_000)}`).subscription],
])('refuses a subscription with %s', async (_what, subscription) => {
  await using its = await house()
  const owner = { id: 'user:somebody', apiKeyId: null }
  const refusal = await subscribe(its.domain.journal, subscription, owner, 'any')
  expect(refusal).toMatchObject({ code: 'INVALID_INPUT' })
})

it('is not sent to an address that has become private, and forgets a literal one', async () => {
  await using its = await house()
  const keys = await loadVapidKeys(its.domain.database, null)
  const push = createWebPush({ keys, publicUrl })
  const { port } = new URL(its.receiver.url)
  const message = { kind: 'pending', tag: 't', title: 't', body: '', url: publicUrl } as const
  const terms = { ttlSeconds: 60, urgency: 'high', topic: 't' } as const
  const to = (endpoint: string) => {
    const { keys } = createBrowser(endpoint).subscription
    return push.send({ endpoint, ...keys }, message, terms)
  }
  expect(await to(`http://localhost:${port}/`)).toMatchObject({
    ok: false,
    gone: false,
    detail: expect.stringContaining('public internet'),
  })
  expect(await to(its.receiver.url)).toMatchObject({ ok: false, gone: true })
  expect(its.receiver.received).toEqual([])
})

it('has one pair of VAPID keys for all servers of a database, or the configured one', async () => {
  await using its = await house()
  const { database } = its.domain
  const [a, b] = await Promise.all([loadVapidKeys(database, null), loadVapidKeys(database, null)])
  expect(a).toEqual(b)
  expect(its.server.notifier.push.publicKey).toBe(a.publicKey)
  expect(await loadVapidKeys(database, a)).toBe(a)
  await expect(loadVapidKeys(database, { publicKey: a.publicKey, privateKey: 'nonsense' })).rejects.toThrow(
    'HOLDPOINT_VAPID_PUBLIC_KEY',
  )
})
