import type {} from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  creationsPerAddressMax,
  creationsPerSessionMax,
  signInsPerAddressMax,
  unknownPollsPerAddressMax,
} from '../base/limits.ts'
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
export function createRates(app: FastifyInstance): Rates {
  const rate = (max: number, what: string): Rate => {
    const check = app.createRateLimit({
      max,
      timeWindow: 60_000,
      keyGenerator: (request) => keys.get(request) ?? request.ip,
    })
    return async (request, key) => {
      keys.set(request, key)
      const result = await check(request)
      if (result.isAllowed || !result.isExceeded) return null
      return new TooManyError(
        'RATE_LIMITED',
        `More than ${max} ${what} a minute. Wait ${result.ttlInSeconds} s and send it again.`,
        result.ttlInSeconds,
      )
    }
  }
  return {
    creationsByAddress: rate(creationsPerAddressMax, 'requests were created from this address in'),
    creationsBySession: rate(creationsPerSessionMax, 'requests were created for this session in'),
    unknownPolls: rate(unknownPollsPerAddressMax, 'polls of unknown requests came from this address in'),
    signIns: rate(signInsPerAddressMax, 'sign-ins were tried from this address in'),
  }
}
