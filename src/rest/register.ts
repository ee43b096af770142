import fastifyRateLimit from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'
import { registerElicitations } from './elicitations.ts'
import { registerHooks } from './hooks.ts'
import { createRates } from './rates.ts'
import type { RestServices } from './services.ts'
import { registerSignIn } from './sign-in.ts'

/** The REST surface under /api/v1. */
export async function registerRest(
  app: FastifyInstance,
  services: RestServices & { secret: string },
): Promise<void> {
  await app.register(fastifyRateLimit, { global: false })
  const rates = createRates(app)
  registerElicitations(app, services, rates)
  registerHooks(app, services, rates)
  registerSignIn(app, { ...services, journal: services.desk.journal }, rates)
}
