import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { keyIn } from '../auth/authenticator.ts'
import { actorOf, may } from '../auth/identity.ts'
import { pollWaitSecondsMax } from '../base/limits.ts'
import { isRefusal, NotFoundError } from '../base/refusal.ts'
import { answer, refuseAnswerer } from '../elicitation/answer.ts'
import { ask, askedBefore, findSessionId } from '../elicitation/ask.ts'
import type { Elicitation } from '../elicitation/elicitation.ts'
import { type PollAnswer, poll, stillPending, throughTrouble } from '../elicitation/poll.ts'
import { deliveryOf } from '../elicitation/presence.ts'
import { isWithdrawToken, withdraw, withdrawToken } from '../elicitation/withdraw.ts'
import { mcpServerActor } from '../events/event.ts'
import { collectionUrl } from '../gate/address.ts'
import { metaKey } from '../gate/meta-key.ts'
import { findGateToken, type GateToken } from '../gate/token.ts'
import { createDoorkeeper } from './doorkeeper.ts'
import { sendError, sendRefusal } from './envelope.ts'
import { parseAnswer, parseQuestion } from './parse.ts'
import type { Rates } from './rates.ts'
import type { RestServices } from './services.ts'
import { signedIn } from './signed-in.ts'

interface Address {
  /** The capability token of the path, or null on the plain address. */
  token: GateToken | null
  collection: string
}

type Params = { token?: string; request_id?: string; id?: string }
type Route = { Params: Params; Querystring: { wait?: unknown } }
type RequestOf = FastifyRequest<Route>

const neverLeaves = new AbortController().signal

/** The fallback protocol: it parses, calls the same commands as every other surface, and prints. */
export function registerElicitations(app: FastifyInstance, services: RestServices, rates: Rates): void {
  const { desk, poller, authenticator, publicUrl, gateAccess, log } = services
  const { database } = desk.journal
  const doorkeeper = createDoorkeeper(services)

  /** The address that was called; null after it has been answered, as the token is unknown. */
  async function addressOf(request: RequestOf, reply: FastifyReply): Promise<Address | null> {
    const secret = request.params.token
    if (secret === undefined) return { token: null, collection: collectionUrl(publicUrl) }
    const token = await findGateToken(database, secret)
    if (token) return { token, collection: collectionUrl(publicUrl, secret) }
    // Guesses of tokens count like guesses of requests.
    const limited = await rates.unknownPolls(request, request.ip)
    if (limited) sendRefusal(reply, limited)
    else
      sendError(reply, 'NOT_FOUND', 'There is no such address. Launch the agent again to hand it a new one.')
    return null
  }

  async function create(request: RequestOf, reply: FastifyReply) {
    const address = await addressOf(request, reply)
    if (!address) return reply
    const bound = address.token ? null : await boundKeyOf(request)
    if (!address.token && !bound && gateAccess === 'capability') return sendCapabilityRequired(reply)
    const parsed = parseQuestion(request.body)
    if (!parsed.ok) return sendError(reply, 'INVALID_INPUT', parsed.messages)
    const { question, sessionReference, serverName } = parsed.value
    const sessionId = await sessionOf(sessionReference, address.token ?? bound)
    if (sessionId === null) {
      const limited = await rates.unknownPolls(request, request.ip)
      return limited ? sendRefusal(reply, limited) : sendUnknownSession(reply, sessionReference)
    }
    const caller = bound ? `key:${bound.id}` : request.ip
    const tooMany =
      (address.token || bound ? null : await rates.creationsByAddress(request, request.ip)) ??
      (await rates.creationsBySession(request, address.token?.id ?? `${sessionId} ${caller}`))
    const source = {
      gateTokenId: address.token?.id ?? null,
      hasEnded: address.token?.endedAt != null,
      callerAddress: caller,
      // What a server's own address says of it beats what it says itself.
      serverName: address.token?.serverName ?? serverName,
    }
    // The same request again creates nothing, and an error would end its agent's wait.
    const asked = await (tooMany ? askedBefore : ask)(desk, sessionId, question, source)
    if (!asked) return sendRefusal(reply, tooMany!)
    if (asked instanceof NotFoundError) return sendUnknownSession(reply, sessionReference)
    if (isRefusal(asked)) return sendRefusal(reply, asked)
    const { requestId, id } = asked.elicitation
    return reply.code(asked.created ? 201 : 200).send({
      action: 'pending',
      requestId,
      _meta: {
        [metaKey.requestId]: requestId,
        [metaKey.pollUrl]: `${address.collection}/${requestId}`,
        [metaKey.withdraw]: withdrawToken(desk, id),
      },
    })
  }

  /** A key bound to a session may ask for it, and is as good as a capability address. */
  async function boundKeyOf(request: FastifyRequest): Promise<{ id: string; sessionId: string } | null> {
    const key = keyIn(request.headers)
    const identity = key === null ? null : await authenticator.identifyKey(key, request.ip)
    return identity?.sessionId ? { id: identity.id, sessionId: identity.sessionId } : null
  }

  async function sessionOf(
    reference: string | null,
    token: { sessionId: string } | null,
  ): Promise<string | null> {
    if (token) {
      const named = reference?.trim() ? await findSessionId(database, reference.trim()) : token.sessionId
      if (named !== token.sessionId)
        log.warn(
          { named: reference, session: token.sessionId },
          'a request names another session than its capability address; the address decides',
        )
      return token.sessionId
    }
    return reference?.trim() ? findSessionId(database, reference.trim()) : null
  }

  function sendUnknownSession(reply: FastifyReply, reference: string | null): FastifyReply {
    const wanted = reference?.trim().slice(0, 200)
    if (wanted) {
      log.info({ session: wanted }, 'a request names an unknown session')
      return sendError(
        reply,
        'NOT_FOUND',
        `There is no session ${JSON.stringify(wanted)}. Set ELICITATION_SESSION_ID to the id or slug of a session.`,
      )
    }
    log.warn(
      'a request came with a blank session id: ELICITATION_SESSION_ID is missing from the environment that its MCP server was spawned with',
    )
    return sendError(
      reply,
      'NOT_FOUND',
      `${metaKey.sessionId} is blank, so no session could be found (looked for ""). ELICITATION_SESSION_ID is missing from the environment of the MCP server.`,
    )
  }

  async function show(request: RequestOf, reply: FastifyReply) {
    reply.header('Cache-Control', 'no-store')
    const requestId = request.params.request_id!
    const waitMs = services.isDraining() ? 0 : waitMsOf(request.query.wait, services.pollHoldMs)
    const polled = {
      requestId,
      address: request.ip,
      waitMs,
      callerLeft: waitMs > 0 ? hangUpOf(reply) : neverLeaves,
    }
    // While the token cannot be looked up, whoever polls must not be told that it is unknown.
    const address = await throughTrouble(poller, polled, () => addressOf(request, reply))
    if (address === 'trouble') return printed(stillPending(requestId))
    if (!address) return reply
    const found = await poll(poller, { ...polled, gateTokenId: address.token?.id ?? null })
    return found ? printed(found) : sendNotHere(request, reply, address)
  }

  /** A request that was made at another address is as unknown as one that was never made. */
  async function sendNotHere(request: RequestOf, reply: FastifyReply, { token }: Address) {
    const limited = await rates.unknownPolls(request, request.ip)
    if (limited) return sendRefusal(reply, limited)
    if (token === null && gateAccess === 'capability') return sendCapabilityRequired(reply)
    return sendError(reply, 'NOT_FOUND', 'There is no such request at this address.')
  }

  function sendCapabilityRequired(reply: FastifyReply): FastifyReply {
    return sendError(
      reply,
      'CAPABILITY_REQUIRED',
      'This server only takes requests on capability addresses (HOLDPOINT_GATE_ACCESS is capability). Set ELICITATION_REQUEST_URL and ELICITATION_POLL_URL to the address that the launch hands out.',
    )
  }

  async function respond(request: RequestOf, reply: FastifyReply) {
    const identity = await signedIn(authenticator, request, reply)
    if (!identity) return reply
    const parsed = parseAnswer(request.body)
    const entrance = { surface: 'rest', address: request.ip } as const
    const target = await desk.requests.byEither(request.params.id!)
    // Whoever may not answer is told that, and not what is wrong with the answer.
    const refusal = await refuseAnswerer(desk, target, identity, entrance)
    if (refusal) return sendRefusal(reply, refusal)
    if (!parsed.ok) return sendError(reply, 'INVALID_INPUT', parsed.messages)
    const result = await answer(desk, target, parsed.value, identity, entrance)
    if (isRefusal(result)) return sendRefusal(reply, result)
    return { ...printed(outcomeOf(result)), delivery: deliveryOf(poller.presence, result) }
  }

  async function takeBack(request: RequestOf, reply: FastifyReply) {
    const address = await addressOf(request, reply)
    if (!address) return reply
    const target = await desk.requests.byRequestId(request.params.request_id!)
    const isHere = target && target.gateTokenId === (address.token?.id ?? null)
    // A key is good for every address.
    if (!target || (!isHere && (address.token || keyIn(request.headers) === null)))
      return sendNotHere(request, reply, address)
    const by = address.token
      ? { actor: mcpServerActor(address.token.serverName), collects: true }
      : await requesterOf(request, target)
    if (!by && !isHere) return sendNotHere(request, reply, address)
    if (!by)
      return sendError(
        reply,
        'NOT_THE_REQUESTER',
        `Only the requester takes a request back: send the header Holdpoint-Withdraw with the value that the creation returned in _meta["${metaKey.withdraw}"], or a key of the role responder.`,
      )
    const result = await withdraw(desk, target, by.actor)
    if (isRefusal(result)) return sendRefusal(reply, result)
    if (result.cause === 'withdrawn' || !by.collects) return printed(outcomeOf(result))
    // It came too late, and the requester collects the answer here: by the rules of a poll, for it must not be replayed.
    const polled = {
      requestId: result.requestId,
      gateTokenId: result.gateTokenId,
      address: request.ip,
      waitMs: 0,
      callerLeft: neverLeaves,
    }
    return printed((await poll(poller, polled))!)
  }

  /** Who takes a request back; `collects` when it is the side that asked, and no person. Null for anybody else. */
  async function requesterOf(request: FastifyRequest, target: Elicitation) {
    const token = request.headers['holdpoint-withdraw']
    if (typeof token === 'string' && target.gateTokenId === null && isWithdrawToken(desk, target.id, token))
      return { actor: mcpServerActor(target.serverName), collects: true }
    const authentication = await authenticator.authenticate(request.headers, {
      changesState: true,
      address: request.ip,
    })
    if (!authentication.ok) return null
    const { identity } = authentication
    const collects = identity.sessionId === target.sessionId
    return collects || may(identity, 'answer') ? { actor: actorOf(identity), collects } : null
  }

  for (const prefix of ['/api/v1/elicitations', '/api/v1/gate/:token/elicitations']) {
    app.post<Route>(prefix, { onRequest: doorkeeper }, create)
    app.get<Route>(
      `${prefix}/:request_id`,
      // A HEAD would carry the answer away without its content.
      { onRequest: doorkeeper, exposeHeadRoute: false },
      show,
    )
    app.delete<Route>(`${prefix}/:request_id`, { onRequest: doorkeeper }, takeBack)
  }
  app.patch<Route>('/api/v1/elicitations/:id/respond', respond)
}

function printed({ requestId, action, content, note, respondedAt }: PollAnswer) {
  return {
    action,
    content,
    _meta: {
      [metaKey.requestId]: requestId,
      ...(respondedAt === null ? {} : { [metaKey.respondedAt]: respondedAt.toISOString() }),
      ...(note === null ? {} : { [metaKey.note]: note }),
    },
  }
}

function outcomeOf({ requestId, status, content, note, respondedAt }: Elicitation): PollAnswer {
  return { requestId, action: status, content: status === 'accept' ? content : null, note, respondedAt }
}

/** `?wait=` in seconds, from 0 to 60; anything else is the default, as a poll is never an error. */
function waitMsOf(wait: unknown, defaultMs: number): number {
  if (typeof wait !== 'string' || !/^\d+(\.\d+)?$/.test(wait)) return defaultMs
  return Math.min(Number(wait), pollWaitSecondsMax) * 1_000
}

/** Fires when the caller's connection closes before the answer is out. */
function hangUpOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  // With a reason, as making up one of its own would cost more than the poll.
  reply.raw.once('close', () => controller.abort('the caller left'))
  return controller.signal
}
