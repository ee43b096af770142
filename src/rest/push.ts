import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Identity } from '../auth/identity.ts'
import { isRefusal } from '../base/refusal.ts'
import type { Journal } from '../events/journal.ts'
import { findSubscription, forgetSubscription, subscribe, unsubscribe } from '../notify/push-subscription.ts'
import type { WebPush } from '../notify/web-push.ts'
import { sendError, sendRefusal } from './envelope.ts'
import { signedIn } from './signed-in.ts'

export interface PushServices {
  journal: Journal
  authenticator: Authenticator
  push: WebPush
  publicUrl: string
}

const named = z.object({ endpoint: z.string().min(1) })
const testTtlSeconds = 60

/** How a browser's page has its person told while it is closed. For people who are signed in, and for no agent. */
export function registerPush(app: FastifyInstance, services: PushServices): void {
  const { journal, authenticator, push, publicUrl } = services
  const { database } = journal

  async function personOf(request: FastifyRequest, reply: FastifyReply): Promise<Identity | null> {
    const identity = await signedIn(authenticator, request, reply)
    if (!identity || identity.sessionId === null) return identity
    sendError(
      reply,
      'FORBIDDEN',
      `The key ${identity.name} is bound to a session. Sign in with a key of your own to be notified.`,
    )
    return null
  }

  /** The endpoint that a body names; null after the request has been answered. */
  function endpointIn(request: FastifyRequest, reply: FastifyReply): string | null {
    const body = named.safeParse(request.body)
    if (body.success) return body.data.endpoint
    sendError(reply, 'INVALID_INPUT', 'Send the endpoint of the subscription: {"endpoint": "https://…"}.')
    return null
  }

  app.get('/api/v1/push/public-key', async (request, reply) =>
    (await personOf(request, reply)) ? { publicKey: push.publicKey } : reply,
  )

  app.post('/api/v1/push/subscriptions', async (request, reply) => {
    const identity = await personOf(request, reply)
    if (!identity) return reply
    const owner = { id: identity.id, apiKeyId: identity.kind === 'api-key' ? identity.id : null }
    const subscription = await subscribe(journal, request.body, owner, push.addresses)
    if (isRefusal(subscription)) return sendRefusal(reply, subscription)
    return reply.code(201).send({ id: subscription.id, endpoint: subscription.endpoint })
  })

  app.delete('/api/v1/push/subscriptions', async (request, reply) => {
    if (!(await personOf(request, reply))) return reply
    const endpoint = endpointIn(request, reply)
    if (endpoint === null) return reply
    // Gone is what was asked for, also when it was gone before.
    await unsubscribe(database, endpoint)
    return reply.code(204).send()
  })

  app.post('/api/v1/push/test', async (request, reply) => {
    const identity = await personOf(request, reply)
    if (!identity) return reply
    const endpoint = endpointIn(request, reply)
    if (endpoint === null) return reply
    const subscription = await findSubscription(database, { endpoint }, journal.now())
    if (subscription?.owner !== identity.id)
      return sendError(reply, 'NOT_FOUND', 'This browser is not subscribed. Turn notifications on again.')
    const delivered = await push.send(
      subscription,
      {
        kind: 'pending',
        tag: 'test',
        title: 'Holdpoint',
        body: 'This browser is told when an agent waits for you.',
        url: publicUrl,
      },
      { ttlSeconds: testTtlSeconds, urgency: 'high', topic: 'test' },
    )
    if (delivered.ok) return { delivered: true, detail: null }
    if (delivered.gone) await forgetSubscription(database, subscription.id)
    return { delivered: false, detail: delivered.detail }
  })
}
