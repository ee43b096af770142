import type { IncomingMessage, Server } from 'node:http'
import { compile } from '@fastify/proxy-addr'
import { holderNameCharactersMax } from '../base/limits.ts'
import { makeVisible } from '../base/text.ts'
import type { Identity } from './identity.ts'
import type { Role } from './role.ts'

/** A header in which a trusted proxy names the person that it has signed in, and the role that such people have. */
export interface TrustedUserHeader {
  name: string
  role: Role
}

/**
 * Takes the header off every request that does not come straight from a trusted proxy, before anybody reads it. What is left
 * of it afterwards can be believed, on every surface, sockets too.
 */
export function guardUserHeader(server: Server, { name }: TrustedUserHeader, proxies: string[]): void {
  const isTrusted = compile(proxies)
  const guard = (request: IncomingMessage) => {
    const peer = request.socket.remoteAddress
    if (!peer || !isTrusted(peer, 0)) delete request.headers[name]
  }
  server.prependListener('request', guard)
  server.prependListener('upgrade', guard)
}

/** The person that a (guarded) header names, or null. */
export function proxiedUser(
  value: string | string[] | undefined,
  { role }: TrustedUserHeader,
): Identity | null {
  if (typeof value !== 'string') return null
  // Node reads headers byte by byte; proxies write names in UTF-8.
  const name = makeVisible(Buffer.from(value, 'latin1').toString('utf8').trim())
  if (name === '' || name.length > holderNameCharactersMax) return null
  return { kind: 'user', id: `user:${name}`, name, role, sessionId: null }
}
