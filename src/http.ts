import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import fastifyCookie from '@fastify/cookie'
import fastify, { type FastifyError, type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import { bodyBytesMax } from './base/limits.ts'
import { isDatabaseTrouble } from './database/trouble.ts'
import { envelopeOf, sendError } from './rest/envelope.ts'

/** Well above the interval of any poll: a client that uses a connection again must not find it just closed. */
const keepAliveMs = 75_000
const headersTimeoutMs = 60_000
const requestTimeoutMs = 120_000
const databaseRetrySeconds = 2

/** The HTTP server without its surfaces: how bodies are read, how errors are told, what is logged. */
export function createHttp({
  log,
  trustProxy,
}: {
  log: Logger
  trustProxy: boolean | string[]
}): FastifyInstance {
  const app = fastify({
    loggerInstance: log,
    // Addresses may hold capability tokens; the line at the end of a request names its route instead.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    trustProxy,
    bodyLimit: bodyBytesMax,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestTimeoutMs,
    http: { headersTimeout: headersTimeoutMs },
    clientErrorHandler: refuseConnection,
    frameworkErrors: (_, __, reply) =>
      sendError(
        reply,
        'BAD_REQUEST',
        'The address is not well-formed: a % stands for nothing. Correct it and send the request again.',
      ),
    routerOptions: { maxParamLength: 300, ignoreTrailingSlash: true },
    // A property called __proto__ is data like any other; JSON.parse keeps it an own property.
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
    forceCloseConnections: false,
  }) as unknown as FastifyInstance

  app.server.on('checkContinue', (request, response) => {
    // Behind an answer that is still being written, Node would put these bytes into the body of the next one.
    if (response.socket) response.writeContinue()
    app.server.emit('request', request, response)
  })
  app.decorateReply('refusalCode', null)
  // Its functions work only once it has been registered, wherever they are called from.
  app.register(fastifyCookie)
  app.removeContentTypeParser('text/plain')
  // The protocol has empty bodies where a client sets the type by habit.
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_, text, done) => {
    if (text === '') return done(null, undefined)
    try {
      done(null, JSON.parse(text as string))
    } catch (error) {
      done(Object.assign(error as Error, { code: 'MALFORMED_JSON' }))
    }
  })

  app.addHook('onResponse', (request, reply, done) => {
    request.log.debug(
      {
        method: request.method,
        route: request.routeOptions.url ?? 'unknown',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    )
    done()
  })

  app.setNotFoundHandler((request, reply) =>
    sendError(
      reply,
      'NOT_FOUND',
      `There is nothing here for ${request.method}. See the documentation for the addresses of the API.`,
    ),
  )
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    if (error.code === 'MALFORMED_JSON' || error.code === 'FST_ERR_CTP_EMPTY_JSON_BODY')
      return sendError(
        reply,
        'MALFORMED_JSON',
        'The body is not JSON. Send a JSON object with Content-Type: application/json.',
      )
    if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
      return sendError(reply, 'BODY_TOO_LARGE', `The body is over the limit of ${bodyBytesMax / 1024} KiB.`)
    if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
      return sendError(reply, 'NOT_JSON', 'Send the body as JSON, with Content-Type: application/json.')
    if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
      return sendError(reply, 'BAD_REQUEST', `${error.message}. Correct the request and send it again.`).code(
        error.statusCode,
      )
    if (isDatabaseTrouble(error)) {
      request.log.warn({ err: error }, 'the database could not be asked')
      reply.header('Retry-After', databaseRetrySeconds)
      return sendError(
        reply,
        'DATABASE_UNAVAILABLE',
        'The database cannot be reached right now. Nothing was changed; send the request again in a moment.',
      )
    }
    // Streams end in many ways when their reader leaves, and nobody is there to be told.
    if (request.raw.socket.destroyed) {
      request.log.info({ err: error }, 'a request ended with its connection')
      return sendError(reply, 'BAD_REQUEST', 'The connection was closed before the answer was complete.')
    }
    request.log.error({ err: error }, 'a request failed')
    return sendError(
      reply,
      'INTERNAL',
      `Something went wrong on this server. The log has the details under ${request.id}.`,
      { reference: request.id },
    )
  })
  return app
}

/** Tells whoever sends what is no HTTP, before there is a request that could be answered. */
function refuseConnection({ code }: Error & { code?: string }, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, body] =
    code === 'HPE_HEADER_OVERFLOW'
      ? envelopeOf(
          'HEADERS_TOO_LARGE',
          'The headers are over the limit of 16 KiB. Send fewer or shorter ones.',
        )
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? envelopeOf('REQUEST_TIMEOUT', 'The request was not complete in time. Send it again.')
        : envelopeOf('BAD_REQUEST', 'This is not HTTP/1.1. Correct the request and send it again.')
  const text = JSON.stringify(body)
  socket.end(
    `HTTP/1.1 ${status} ${body.error}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    () => socket.destroy(),
  )
}
