import { setTimeout } from 'node:timers/promises'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Authentication } from '../../auth/authenticator.ts'
import type { GraphqlContext } from '../context.ts'
import type { GraphqlServices } from '../services.ts'
import { watchClients } from './clients.ts'
import { graphqlBodyBytesMax } from './limits.ts'
import { createMask } from './masking.ts'
import { serveSockets } from './websocket.ts'
import { createEngine, graphqlPath } from './yoga.ts'

export interface GraphqlSurface {
  /**
   * Ends sockets with a going-away code and refuses new ones. Streams end with the subscriptions they carry, which are
   * to be ended before; what is still on its way to a client then gets a moment to arrive.
   */
  close(): Promise<void>
}

const lastWordsMs = 2_000
const credentialsCheckedEveryMs = 15_000

/** GraphQL over HTTP, SSE and WebSocket at one address. A key is asked for before anything is read of the request. */
export async function registerGraphql(
  app: FastifyInstance,
  services: GraphqlServices,
  { checkEveryMs = credentialsCheckedEveryMs }: { checkEveryMs?: number } = {},
): Promise<GraphqlSurface> {
  const engine = createEngine(services)
  const clients = watchClients({
    checkEveryMs,
    onError: (err) => services.log.warn({ err }, 'the credentials of who is connected could not be checked'),
  })
  const contexts = new WeakMap<FastifyRequest, GraphqlContext>()
  const unfinished = new Set<Promise<void>>()
  const mask = createMask(services.log)

  await app.register(async (scope) => {
    // The engine reads bodies itself: as JSON, or as a document of its own media type.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      '*',
      { parseAs: 'string', bodyLimit: graphqlBodyBytesMax },
      (_request, body, done) => done(null, body),
    )
    scope.setErrorHandler<FastifyError>((error, _request, reply) => {
      const status = error.statusCode ?? 500
      if (status < 500)
        return sendError(
          reply,
          status,
          ...(mediaTypeProblems.get(status) ?? (['BAD_REQUEST', error.message] as const)),
        )
      const { message, extensions } = mask(error)
      return sendError(
        reply,
        extensions.code === 'DATABASE_UNAVAILABLE' ? 503 : 500,
        String(extensions.code),
        message,
        extensions,
      )
    })
    scope.route({
      url: graphqlPath,
      method: ['GET', 'POST', 'OPTIONS'],
      onRequest: async (request, reply) => {
        if (wantsGraphiql(request, services)) {
          // Nine megabytes, which a server in production never needs.
          const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
          return reply
            .header('Content-Security-Policy', graphiqlPolicy)
            .type('text/html; charset=utf-8')
            .send(renderGraphiQL({ title: 'Holdpoint', endpoint: graphqlPath }))
        }
        if (request.method === 'OPTIONS') return reply.header('Allow', 'GET, POST').code(204).send()
        const changesState = request.method !== 'GET'
        const authentication = await services.authenticator.authenticate(request.headers, {
          changesState,
          address: request.ip,
        })
        if (!authentication.ok) return refuse(reply, authentication.why)
        contexts.set(request, contextOf(request, reply, authentication))
      },
      handler: async (request, reply) => {
        if (request.method === 'POST' && !request.body)
          return sendError(
            reply,
            400,
            'BAD_REQUEST',
            'Send a body: JSON with `query`, and `variables` where there are some.',
          )
        const search = request.url.slice(graphqlPath.length)
        const context = contexts.get(request)!
        const response = await engine.fetch(
          `http://holdpoint${graphqlPath}${search}`,
          {
            method: request.method,
            headers: request.headers as Record<string, string>,
            ...(request.method === 'POST' ? { body: request.body as string } : {}),
          },
          context,
        )
        // A stream whose reader has left before it began is not one that the engine can end.
        if (context.clientLeft.aborted) return reply.code(499).send()
        const unspeakable = response.body === null ? mediaTypeProblems.get(response.status) : undefined
        return unspeakable ? sendError(reply, response.status, ...unspeakable) : response
      },
    })
  })

  function contextOf(
    { headers, ip }: FastifyRequest,
    reply: FastifyReply,
    { identity, by }: Extract<Authentication, { ok: true }>,
  ): GraphqlContext {
    const left = new AbortController()
    const forget = clients.add({
      credentialId: identity.id,
      stillGood: async () =>
        (await services.authenticator.authenticate(headers, { changesState: false, address: null })).ok,
      end: () => left.abort(),
    })
    const { promise: finished, resolve } = Promise.withResolvers<void>()
    unfinished.add(finished)
    reply.raw.once('close', () => {
      forget()
      // With a reason, as making up one of its own is a good part of what a small query costs.
      left.abort('the client left')
      unfinished.delete(finished)
      resolve()
    })
    const surface = by !== 'key' ? 'dashboard' : headers['holdpoint-client'] === 'cli' ? 'cli' : 'graphql'
    return { services, identity, entrance: { surface, address: ip }, clientLeft: left.signal }
  }

  const sockets = serveSockets(app.server, engine, services, clients)
  const revocations = services.fanout.subscribe({ filter: ({ type }) => type === 'key.revoked' })
  const following = follow()
  async function follow() {
    try {
      for await (const { data } of revocations) clients.endOf(String(data.keyId))
    } catch {
      // The server goes away, and all sockets with it.
    }
  }

  return {
    async close() {
      clients.stop()
      await revocations.return?.()
      await following
      await Promise.all([
        sockets.close(),
        Promise.race([Promise.all(unfinished), setTimeout(lastWordsMs, null, { ref: false })]),
      ])
    },
  }
}

/** Instead of a status alone, which is what the engine answers. */
const mediaTypeProblems = new Map<number, readonly [code: string, message: string]>([
  [415, ['UNSUPPORTED_MEDIA_TYPE', 'Send the body as JSON, with Content-Type: application/json.']],
  [
    406,
    [
      'NOT_ACCEPTABLE',
      'Accept application/json or application/graphql-response+json, and for a subscription text/event-stream.',
    ],
  ],
])

/** The page carries its scripts in itself and talks to this server; nothing else. */
const graphiqlPolicy = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'font-src data:',
  'img-src data:',
  "connect-src 'self'",
  'worker-src blob:',
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

function wantsGraphiql({ method, headers, query }: FastifyRequest, { config }: GraphqlServices): boolean {
  const asksNothing = !Object.hasOwn(query as object, 'query')
  return config.development && method === 'GET' && asksNothing && (headers.accept ?? '').includes('text/html')
}

function refuse(reply: FastifyReply, why: 'missing' | 'wrong' | 'cross-site'): FastifyReply {
  if (why === 'cross-site')
    return sendError(
      reply,
      403,
      'FORBIDDEN',
      'A browser may do this from a page of this server only. Programs send a key.',
    )
  reply.header('WWW-Authenticate', 'Bearer')
  return sendError(
    reply,
    401,
    'UNAUTHENTICATED',
    why === 'missing'
      ? 'Send a key: `X-API-Key: <key>` or `Authorization: Bearer <key>`.'
      : 'This key is unknown, expired or revoked. Use another one.',
  )
}

function sendError(
  reply: FastifyReply,
  status: number,
  code: string,
  message: string,
  extensions = {},
): FastifyReply {
  return reply
    .code(status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ errors: [{ message, extensions: { ...extensions, code } }] }))
}
