import type {} from '@fastify/rate-limit'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Authenticator, isSameOrigin, keyIn } from '../auth/authenticator.ts'
import type { Identity } from '../auth/identity.ts'
import { newToken } from '../base/ids.ts'
import { isRecord, own } from '../base/json.ts'
import { type Limits, limitVariable, mcpBatchMax, mcpRequestsPerKeyMax } from '../base/limits.ts'
import type { Log } from '../base/log.ts'
import { TooManyError } from '../base/refusal.ts'
import type { Desk } from '../elicitation/elicitation.ts'
import type { Poller } from '../elicitation/poll.ts'
import { createDeskAsker } from './desk-asker.ts'
import { createMcpServer } from './server.ts'
import { bindTool } from './tool.ts'
import { askingTools, deskTools } from './tools.ts'

/** What the MCP endpoint is given. */
export interface McpServices {
  log: Log
  desk: Desk
  poller: Poller
  authenticator: Authenticator
  limits: Pick<Limits, 'creationsPerSession'>
  publicUrl: string
  /** True from the moment the server begins to go away. */
  isDraining: () => boolean
}

const mcpSessionHeader = 'mcp-session-id'

/**
 * The MCP endpoint: Streamable HTTP, for whoever has an API key. No request needs what an earlier one left behind, so any
 * of the processes that share the database may take it. The session id that a client gets names its calls, and nothing
 * is kept under it.
 *
 * Needs @fastify/rate-limit to be registered (not global).
 */
export function registerMcp(app: FastifyInstance, services: McpServices): void {
  const { log, desk, poller, authenticator, publicUrl, isDraining } = services
  const creationsMax = services.limits.creationsPerSession
  const openByKey = new Map<string, number>()
  const keyOfRequest = new WeakMap<FastifyRequest, string>()
  const creations = app.createRateLimit({
    max: creationsMax,
    timeWindow: 60_000,
    keyGenerator: (request) => `mcp:${keyOfRequest.get(request)}`,
  })

  async function handle(request: FastifyRequest, reply: FastifyReply) {
    const { origin } = request.headers
    if (origin !== undefined && origin !== new URL(publicUrl).origin && !isSameOrigin(request.headers))
      return fail(reply, 403, 'Web pages of another origin may not call this address.')
    const key = keyIn(request.headers)
    const identity = key === null ? null : await authenticator.identifyKey(key, request.ip)
    if (!identity)
      return fail(
        reply.header('WWW-Authenticate', 'Bearer'),
        401,
        key === null
          ? 'Send an API key in the header X-API-Key, or as Authorization: Bearer.'
          : 'The API key is unknown, expired or revoked. Ask an admin for another one.',
      )
    const messages = Array.isArray(request.body) ? request.body : [request.body]
    if (messages.length === 0 || !messages.every(isRecord))
      return fail(reply, 400, 'Send a JSON-RPC message.', -32_600)
    if (messages.length > mcpBatchMax)
      return fail(reply, 400, `Send at most ${mcpBatchMax} messages at a time.`, -32_600)
    const open = openByKey.get(identity.id) ?? 0
    if (open >= mcpRequestsPerKeyMax)
      return fail(
        reply.header('Retry-After', 5),
        429,
        `${open} requests of this key are open. Wait until one of them has ended.`,
      )

    const sent = request.headers[mcpSessionHeader]
    const mcpSessionId = typeof sent === 'string' && sent !== '' ? sent : null
    const asker = askerFor(request, reply, identity, mcpSessionId)
    for (const id of messages.map(cancelledCall)) if (id !== null) await asker.withdrawCall(id)
    if (messages.some((message) => own(message, 'method') === 'initialize'))
      reply.raw.setHeader(mcpSessionHeader, newToken(16))

    const context = { desk, presence: poller.presence, identity, address: request.ip }
    const server = createMcpServer(
      [
        ...askingTools.map((tool) => bindTool(tool, asker)),
        ...deskTools.map((tool) => bindTool(tool, context)),
      ],
      log,
    )
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
    reply.hijack()
    openByKey.set(identity.id, open + 1)
    reply.raw.once('close', () => {
      const left = openByKey.get(identity.id)! - 1
      if (left === 0) openByKey.delete(identity.id)
      else openByKey.set(identity.id, left)
      server
        .close()
        .catch((error: unknown) => log.warn({ err: error }, 'an MCP connection could not be closed'))
    })
    reply.raw.setHeader('Cache-Control', 'no-store')
    reply.raw.setHeader('X-Content-Type-Options', 'nosniff')
    // A proxy that collects a stream before it passes it on would hold back every sign of life.
    reply.raw.setHeader('X-Accel-Buffering', 'no')
    if (isDraining()) reply.raw.setHeader('Connection', 'close')
    await server.connect(transport)
    await transport.handleRequest(request.raw, reply.raw, request.body)
    return reply
  }

  function askerFor(
    request: FastifyRequest,
    reply: FastifyReply,
    identity: Identity,
    mcpSessionId: string | null,
  ) {
    keyOfRequest.set(request, identity.id)
    return createDeskAsker({
      desk,
      poller,
      identity,
      isDraining,
      mcpSessionId,
      onRefused({ code }) {
        reply.refusalCode = code
      },
      async countCreation() {
        const result = await creations(request)
        if (result.isAllowed || !result.isExceeded) return null
        return new TooManyError(
          'creationsPerSession',
          `More than ${creationsMax} questions were asked with this key in a minute (${limitVariable('creationsPerSession')}). Wait ${result.ttlInSeconds} s and ask again.`,
          result.ttlInSeconds,
        )
      },
    })
  }

  app.post('/mcp', handle)
  // Nothing is ever sent outside of a response, and there is nothing to delete.
  app.route({
    method: ['GET', 'DELETE'],
    url: '/mcp',
    handler: (_, reply) => fail(reply.header('Allow', 'POST'), 405, 'This MCP endpoint takes POST only.'),
  })
}

/** The call that a message cancels, or null. */
function cancelledCall(message: Record<string, unknown>): RequestId | null {
  const params = own(message, 'params')
  if (own(message, 'method') !== 'notifications/cancelled' || !isRecord(params)) return null
  const id = own(params, 'requestId')
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

/** `-32000` is what the SDK answers where HTTP says the rest. */
function fail(reply: FastifyReply, status: number, message: string, code = -32_000): FastifyReply {
  return reply.code(status).send({ jsonrpc: '2.0', error: { code, message }, id: null })
}
