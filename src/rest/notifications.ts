import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Authenticator } from '../auth/authenticator.ts'
import { may } from '../auth/identity.ts'
import { isRefusal } from '../base/refusal.ts'
import type { Journal } from '../events/journal.ts'
import type { Notifier } from '../notify/notifier.ts'
import { listNotifications, type Notification } from '../notify/outbox.ts'
import { sendError, sendRefusal } from './envelope.ts'
import { signedIn } from './signed-in.ts'

export interface NotificationServices {
  journal: Journal
  authenticator: Authenticator
  notifier: Pick<Notifier, 'resend'>
}

const listing = z.object({
  state: z.enum(['waiting', 'sent', 'dropped', 'dead']).default('dead'),
  first: z.coerce.number().int().min(1).max(200).default(50),
  before: z.uuid().nullable().default(null),
})

/** What became of notifications, and the way back for those that were given up. For admins. */
export function registerNotifications(app: FastifyInstance, services: NotificationServices): void {
  const { journal, authenticator, notifier } = services

  async function isAdmin(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const identity = await signedIn(authenticator, request, reply)
    if (!identity) return false
    if (may(identity, 'administer')) return true
    sendError(
      reply,
      'FORBIDDEN',
      `The key ${identity.name} has the role ${identity.role}. Use a key of the role admin.`,
    )
    return false
  }

  app.get('/api/v1/notifications', async (request, reply) => {
    if (!(await isAdmin(request, reply))) return reply
    const query = listing.safeParse(request.query)
    if (!query.success)
      return sendError(
        reply,
        'INVALID_INPUT',
        'Use ?state=waiting, sent, dropped or dead, with first from 1 to 200 and before an id that was listed.',
      )
    const notifications = await listNotifications(journal.database, query.data)
    return { notifications: notifications.map(printed) }
  })

  app.post<{ Params: { id: string } }>('/api/v1/notifications/:id/resend', async (request, reply) => {
    if (!(await isAdmin(request, reply))) return reply
    const again = await notifier.resend(request.params.id)
    return isRefusal(again) ? sendRefusal(reply, again) : { notification: printed(again) }
  })
}

function printed(notification: Notification) {
  const { id, type, channel, state, attempts, lastError, sessionId, elicitationId } = notification
  const { dueAt, createdAt, settledAt } = notification
  return {
    ...{ id, type, channel, state, attempts, lastError, sessionId, elicitationId },
    ...{ dueAt, createdAt, settledAt },
  }
}
