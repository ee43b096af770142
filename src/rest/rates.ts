import type {} from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { configurableLimits, type Limit, type Limits, limitVariable } from '../base/limits.ts'
import { TooManyError } from '../base/refusal.ts'

/** Counts one more, and says so when that is one too many. Counted a minute, in this process. */
export type Rate = (request: FastifyRequest, key: string) => Promise<TooManyError | null>

export interface Rates {
  creationsByAddress: Rate
  creationsBySession: Rate
  unknownPolls: Rate
  signIns: Rate
}

const keys = new WeakMap<FastifyRequest, string>()

/** Needs @fastify/rate-limit to be registered (not global). */
export function createRates(app: FastifyInstance, limits: Limits): Rates {
  const rate = (limit: Limit): Rate => {
    const check = app.createRateLimit({
      max: limits[limit],
      timeWindow: 60_000,
      keyGenerator: (request) => keys.get(request) ?? request.ip,
    })
    return async (request, key) => {
      keys.set(request, key)
      const result = await check(request)
      if (result.isAllowed || !result.isExceeded) return null
      return new TooManyError(
        limit,
        `More than ${limits[limit]} ${configurableLimits[limit].counts} (${limitVariable(limit)}). Wait ${result.ttlInSeconds} s and send it again.`,
        result.ttlInSeconds,
      )
    }
  }
  return {
    creationsByAddress: rate('creationsPerAddress'),
    creationsBySession: rate('creationsPerSession'),
    unknownPolls: rate('unknownPollsPerAddress'),
    signIns: rate('signInsPerAddress'),
  }
}
