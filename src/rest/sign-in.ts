import { fastifyCookie } from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type Authenticator, cookieName, isSameOrigin } from '../auth/authenticator.ts'
import type { FailedAttempts } from '../auth/failed-attempts.ts'
import {
  browserSignInMs,
  redeemSignInLink,
  type SignedIn,
  signInBrowser,
  signInLinkMs,
  signOut,
} from '../auth/sign-in.ts'
import type { Journal } from '../events/journal.ts'
import { sendError, sendRefusal } from './envelope.ts'
import type { Rates } from './rates.ts'

const body = z.union([z.object({ key: z.string().min(1) }), z.object({ link: z.string().min(1) })])

/** How a browser signs in, with a key or the token of a one-time link, and out. */
export function registerSignIn(
  app: FastifyInstance,
  services: {
    journal: Journal
    authenticator: Authenticator
    failedSignIns: FailedAttempts
    secret: string
    publicUrl: string
  },
  rates: Rates,
): void {
  const { journal, authenticator, failedSignIns, secret, publicUrl } = services
  const cookie = {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: publicUrl.startsWith('https:'),
  } as const

  app.post('/api/v1/sign-in', async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.headers.origin !== undefined && !isSameOrigin(request.headers))
      return sendError(reply, 'CROSS_SITE', 'Sign in from a page of this server.')
    const limited = await rates.signIns(request, request.ip)
    if (limited) return sendRefusal(reply, limited)
    const parsed = body.safeParse(request.body)
    if (!parsed.success) return sendError(reply, 'INVALID_INPUT', 'Send {"key": "…"} or {"link": "…"}.')
    const signedIn = await signIn(parsed.data, request.ip)
    if (!signedIn) {
      await failedSignIns.count(request.ip)
      return sendError(
        reply,
        'UNAUTHENTICATED',
        'key' in parsed.data
          ? 'This key is unknown, expired or revoked.'
          : `This sign-in link was used before or is older than ${signInLinkMs / 60_000} minutes. Sign in with a key, or restart the server for another link.`,
      )
    }
    const { token, identity } = signedIn
    reply.header(
      'Set-Cookie',
      fastifyCookie.serialize(cookieName, fastifyCookie.sign(token, secret), {
        ...cookie,
        maxAge: browserSignInMs / 1_000,
      }),
    )
    return { name: identity.name, role: identity.role }
  })

  app.post('/api/v1/sign-out', async (request, reply) => {
    if (!isSameOrigin(request.headers))
      return sendError(reply, 'CROSS_SITE', 'Sign out from a page of this server.')
    const { valid, value } = fastifyCookie.unsign(
      fastifyCookie.parse(request.headers.cookie ?? '')[cookieName] ?? '',
      secret,
    )
    if (valid && value) {
      await signOut(journal, value, request.ip)
      authenticator.forgetCookie(value)
    }
    reply.header('Set-Cookie', fastifyCookie.serialize(cookieName, '', { ...cookie, maxAge: 0 }))
    return reply.code(204).send()
  })

  async function signIn(given: z.infer<typeof body>, address: string): Promise<SignedIn | null> {
    if ('link' in given) return redeemSignInLink(journal, given.link, address)
    const identity = await authenticator.identifyKey(given.key, null)
    // A key bound to a session is an agent's, and no person signs in with it.
    return identity && identity.sessionId === null ? signInBrowser(journal, identity.id, address) : null
  }
}
