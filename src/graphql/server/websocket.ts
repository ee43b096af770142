import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { compile, default as proxyAddr } from '@fastify/proxy-addr'
import { GraphQLError } from 'graphql'
import { useServer as speakGraphqlWs } from 'graphql-ws/use/ws'
import { type WebSocket, WebSocketServer } from 'ws'
import { bearerKeyIn } from '../../auth/authenticator.ts'
import type { Identity } from '../../auth/identity.ts'
import { isRecord, own } from '../../base/json.ts'
import type { Entrance } from '../../elicitation/answer.ts'
import type { EndReason } from '../../events/fanout.ts'
import type { GraphqlContext } from '../context.ts'
import type { GraphqlServices } from '../services.ts'
import type { Clients } from './clients.ts'
import { type Engine, graphqlPath } from './yoga.ts'

/** Close codes that this server uses beside those of the protocol. */
export const closeCodes = {
  goingAway: 1001,
  tryAgainLater: 1013,
  unauthorized: 4401,
  forbidden: 4403,
  tooSlow: 4429,
} as const

const messageBytesMax = 1024 * 1024
const operationsPerSocketMax = 100
/** A socket whose client does not answer the close is cut after this. */
const closeTimeoutMs = 2_000

const closeCodeOf: Record<EndReason, number> = {
  'too slow': closeCodes.tooSlow,
  'going away': closeCodes.goingAway,
  revoked: closeCodes.forbidden,
}

type Connection = {
  socket: WebSocket
  request: IncomingMessage
  /** Set once the client has shown who it is. */
  client?: { identity: Identity; entrance: Entrance; left: AbortController }
}

export interface Sockets {
  close(): Promise<void>
}

/** GraphQL over WebSocket (the protocol graphql-transport-ws), on the server's own port. */
export function serveSockets(
  server: Server,
  engine: Engine,
  services: GraphqlServices,
  clients: Clients,
): Sockets {
  const { authenticator, config, log } = services
  const options = { noServer: true, maxPayload: messageBytesMax, closeTimeout: closeTimeoutMs }
  const sockets = new WebSocketServer(options)
  const { trustProxy } = config
  const isTrusted = typeof trustProxy === 'boolean' ? () => trustProxy : compile(trustProxy)
  let closing = false

  speakGraphqlWs<Record<string, unknown>, Connection>(
    {
      async onConnect({ connectionParams, extra }) {
        const { socket, request } = extra
        const known = await identify(connectionParams, request, { isAttempt: true }).catch((err: unknown) => {
          log.warn({ err }, 'a key could not be looked up')
          return 'unknown' as const
        })
        if (known === 'unknown' || known === null) {
          if (known === null) socket.close(closeCodes.unauthorized, 'The key is missing or wrong')
          else socket.close(closeCodes.tryAgainLater, 'The database cannot be reached right now')
          return false
        }
        const left = new AbortController()
        const forget = clients.add({
          credentialId: known.identity.id,
          stillGood: async () => (await identify(connectionParams, request, { isAttempt: false })) !== null,
          end: () => socket.close(closeCodes.forbidden, 'The key is no longer valid'),
        })
        socket.once('close', () => {
          forget()
          left.abort('the client left')
        })
        extra.client = { ...known, left }
        return true
      },

      async onSubscribe({ extra, subscriptions }, _id, { query, variables, operationName }) {
        if (Object.keys(subscriptions).length > operationsPerSocketMax)
          return [
            new GraphQLError(`Run at most ${operationsPerSocketMax} operations at once on one connection.`, {
              extensions: { code: 'TOO_MANY_OPERATIONS' },
            }),
          ]
        const { schema, execute, subscribe, contextFactory, parse, validate } = engine.getEnveloped(
          contextOf(extra),
        )
        try {
          const document = parse(query)
          const errors = validate(schema, document)
          if (errors.length > 0) return errors as GraphQLError[]
          const contextValue = await contextFactory()
          return {
            schema,
            document,
            operationName,
            variableValues: variables,
            contextValue,
            rootValue: { execute, subscribe },
          }
        } catch (error) {
          if (error instanceof GraphQLError) return [error]
          throw error
        }
      },
      execute: (args) => (args.rootValue as { execute: (args: unknown) => never }).execute(args),
      subscribe: (args) => (args.rootValue as { subscribe: (args: unknown) => never }).subscribe(args),
      isProd: true,
    },
    sockets,
  )

  /** The key of `connection_init`, else the headers of the upgrade, a cookie above all: its origin has been checked. */
  async function identify(
    params: unknown,
    request: IncomingMessage,
    { isAttempt }: { isAttempt: boolean },
  ): Promise<{ identity: Identity; entrance: Entrance } | null> {
    const address = proxyAddr(request, isTrusted)
    const given = keyIn(params)
    if (given !== null) {
      const identity = await authenticator.identifyKey(given, isAttempt ? address : null)
      return identity && { identity, entrance: { surface: 'graphql', address } }
    }
    const authentication = await authenticator.authenticate(request.headers, {
      changesState: false,
      address: isAttempt ? address : null,
    })
    if (!authentication.ok) return null
    return {
      identity: authentication.identity,
      entrance: { surface: authentication.by === 'key' ? 'graphql' : 'dashboard', address },
    }
  }

  function contextOf({ client, socket }: Connection): GraphqlContext {
    const { identity, entrance, left } = client!
    return {
      services,
      identity,
      entrance,
      clientLeft: left.signal,
      onSubscriptionEnd: (reason) => socket.close(closeCodeOf[reason], reason),
    }
  }

  function onUpgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    stream.on('error', () => stream.destroy())
    if (request.url?.split('?', 1)[0] !== graphqlPath) refuse(stream, '404 Not Found')
    else if (closing) refuse(stream, '503 Service Unavailable')
    else if (!isOwnOrigin(request, config.publicUrl)) {
      log.info({ origin: request.headers.origin }, 'a WebSocket of a foreign origin was refused')
      refuse(stream, '403 Forbidden')
    } else
      sockets.handleUpgrade(request, stream, head, (socket) => sockets.emit('connection', socket, request))
  }
  server.on('upgrade', onUpgrade)

  return {
    async close() {
      closing = true
      for (const socket of sockets.clients) socket.close(closeCodes.goingAway, 'going away')
      const gone = [...sockets.clients].map(
        (socket) => new Promise((resolve) => socket.once('close', resolve)),
      )
      await Promise.all(gone)
      server.off('upgrade', onUpgrade)
    },
  }
}

/** The key of `connection_init`, as `apiKey` or as `authorization`; null when it names none. What cannot be read is no key. */
function keyIn(params: unknown): string | null {
  if (!isRecord(params)) return null
  const direct = own(params, 'apiKey')
  if (direct != null) return typeof direct === 'string' ? direct.trim() : ''
  const bearer = own(params, 'authorization') ?? own(params, 'Authorization')
  if (bearer == null) return null
  return (typeof bearer === 'string' && bearerKeyIn(bearer)) || ''
}

/** Browsers say which page opens a socket; programs say nothing. */
function isOwnOrigin({ headers: { origin, host } }: IncomingMessage, publicUrl: string): boolean {
  if (origin === undefined) return true
  if (!URL.canParse(origin)) return false
  const { host: originHost, origin: canonical } = new URL(origin)
  return originHost === host || canonical === new URL(publicUrl).origin
}

function refuse(stream: Duplex, status: string): void {
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
