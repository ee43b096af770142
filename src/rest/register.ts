import fastifyRateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import type { FailedAttempts } from '../auth/failed-attempts.ts'
import type { Limits } from '../base/limits.ts'
import type { Notifier } from '../notify/notifier.ts'
import { registerElicitations } from './elicitations.ts'
import { registerHooks } from './hooks.ts'
import { registerNotifications } from './notifications.ts'
import { registerPush } from './push.ts'
import { createRates } from './rates.ts'
import type { RestServices } from './services.ts'
import { registerSignIn } from './sign-in.ts'

/** The REST surface under /api/v1. */
export async function registerRest(
  app: FastifyInstance,
  services: RestServices & {
    limits: Limits
    secret: string
    failedSignIns: FailedAttempts
    notifier: Notifier
  },
): Promise<void> {
  const { authenticator, notifier, publicUrl } = services
  const { journal } = services.desk
  await app.register(fastifyRateLimit, { global: false })
  const rates = createRates(app, services.limits)
  registerElicitations(app, services, rates)
  registerHooks(app, services, rates)
  registerSignIn(app, { ...services, journal }, rates)
  registerPush(app, { journal, authenticator, push: notifier.push, publicUrl })
  registerNotifications(app, { journal, authenticator, notifier })
}
