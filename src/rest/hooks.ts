import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { keyIn } from '../auth/authenticator.ts'
import { actorOf } from '../auth/identity.ts'
import { isRefusal } from '../base/refusal.ts'
import { ask } from '../elicitation/ask.ts'
import { waitForAnswer } from '../elicitation/wait.ts'
import { withdraw } from '../elicitation/withdraw.ts'
import { elicitationHookReply, parseElicitationHook } from '../gate/claude-elicitation-hook.ts'
import { metaKey } from '../gate/meta-key.ts'
import { sendError, sendRefusal } from './envelope.ts'
import { parseQuestion } from './parse.ts'
import type { Rates } from './rates.ts'
import type { RestServices } from './services.ts'

/**
 * Claude Code's Elicitation hook of the type http. The call is held until the person has answered; a caller that hangs
 * up takes the question with it. To Claude Code everything but 200 is "no decision", so nothing here can become a
 * decline.
 */
export function registerHooks(app: FastifyInstance, services: RestServices, rates: Rates): void {
  const { desk, poller, authenticator, isDraining } = services

  app.post('/api/v1/hooks/claude-code', async (request: FastifyRequest, reply: FastifyReply) => {
    const callerLeft = new AbortController()
    reply.raw.once('close', () => callerLeft.abort())
    const key = keyIn(request.headers)
    const identity = key === null ? null : await authenticator.identifyKey(key, request.ip)
    if (!identity)
      return sendError(
        reply,
        'UNAUTHENTICATED',
        'Send the key that is bound to the session in the header X-API-Key, or as Authorization: Bearer. In the settings of Claude Code, name its variable in allowedEnvVars.',
      )
    const { sessionId } = identity
    if (sessionId === null)
      return sendError(
        reply,
        'FORBIDDEN',
        `The key ${identity.name} is not bound to a session, so it is not known which one asks. Use the key that was made for the session when it was launched.`,
      )
    const hook = parseElicitationHook(request.body)
    if (!hook.ok) return sendError(reply, 'INVALID_INPUT', hook.problem)
    const { mode, message, requestedSchema, url, elicitationId, serverName } = hook.elicitation
    const parsed = parseQuestion({
      ...{ mode, message, requestedSchema, url, elicitationId },
      _meta: { [metaKey.requestId]: `hook-${randomUUID()}` },
    })
    if (!parsed.ok) return sendError(reply, 'INVALID_INPUT', parsed.messages)
    const address = `key:${identity.id}`
    const tooMany = await rates.creationsBySession(request, address)
    if (tooMany) return sendRefusal(reply, tooMany)

    const asked = await ask(desk, sessionId, parsed.value.question, {
      gateTokenId: null,
      callerAddress: address,
      serverName,
    })
    if (isRefusal(asked)) return sendRefusal(reply, asked)
    const { requestId } = asked.elicitation
    const waiting = {
      requestId,
      address,
      waitMs: Number.POSITIVE_INFINITY,
      callerLeft: callerLeft.signal,
      isDraining,
    }
    const found = await waitForAnswer(poller, waiting)
    if (found && found.action !== 'pending')
      return elicitationHookReply(mode, { action: found.action, content: found.content })
    await withdraw(desk, asked.elicitation, actorOf(identity))
    return sendError(
      reply.header('Retry-After', 1),
      'GOING_AWAY',
      'This server is going away, and nobody has decided yet. Ask again in a moment.',
    )
  })
}
