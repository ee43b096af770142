import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator } from '../auth/authenticator.ts'
import type { Identity } from '../auth/identity.ts'
import { sendError } from './envelope.ts'

/** The identity behind a request's key or cookie; null after the request has been answered. */
export async function signedIn(
  authenticator: Authenticator,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Identity | null> {
  const changesState = request.method !== 'GET' && request.method !== 'HEAD'
  const authentication = await authenticator.authenticate(request.headers, {
    changesState,
    address: request.ip,
  })
  if (authentication.ok) return authentication.identity
  if (authentication.why === 'cross-site')
    sendError(reply, 'CROSS_SITE', 'A signed-in browser may only send this from a page of this server.')
  else
    sendError(
      reply,
      'UNAUTHENTICATED',
      authentication.why === 'missing'
        ? 'Sign in, or send an API key in the header X-API-Key, or as Authorization: Bearer.'
        : 'The API key is unknown, expired or revoked. Ask an admin for another one.',
    )
  return null
}
