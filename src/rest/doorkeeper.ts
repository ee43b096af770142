import type { onRequestHookHandler } from 'fastify'
import { isLoopbackHost } from '../gate/address.ts'
import { sendError } from './envelope.ts'
import type { RestServices } from './services.ts'

const rememberedHostsMax = 100

/**
 * Keeps web pages away from the open endpoints, on loopback above all: a page may send requests to 127.0.0.1, or to a
 * name of its own that resolves there, but it can choose neither its Origin nor the Host that the browser writes.
 */
export function createDoorkeeper({
  publicUrl,
  allowedHosts,
}: Pick<RestServices, 'publicUrl' | 'allowedHosts'>): onRequestHookHandler {
  const own = new URL(publicUrl)
  const names = new Set([own.hostname, ...allowedHosts.map(hostnameOf)].map((name) => name.toLowerCase()))
  /** Nearly every request has the same few hosts; the bound keeps strangers from filling it. */
  const known = new Map<string, boolean>()
  const isOurs = (host: string) => {
    let ours = known.get(host)
    if (ours === undefined) {
      const name = hostnameOf(host).toLowerCase()
      ours = names.has(name) || isLoopbackHost(name)
      if (known.size < rememberedHostsMax) known.set(host, ours)
    }
    return ours
  }
  return (request, reply, done) => {
    const host = request.host
    if (!host || !isOurs(host))
      return void sendError(
        reply,
        'FOREIGN_HOST',
        'This server does not go by the name in the Host header. Call it by the address in PUBLIC_URL, or list the name in HOLDPOINT_ALLOWED_HOSTS.',
      )
    const origin = request.headers.origin
    const site = request.headers['sec-fetch-site']
    if (
      // A page's GET names no origin, and would carry an answer away.
      (site !== undefined && site !== 'same-origin' && site !== 'none') ||
      (origin !== undefined &&
        origin !== own.origin &&
        !(URL.canParse(origin) && new URL(origin).host === host))
    )
      return void sendError(reply, 'FOREIGN_ORIGIN', 'Web pages of another origin may not call this address.')
    done()
  }
}

function hostnameOf(host: string): string {
  const url = URL.parse(`http://${host}`)
  return url ? url.hostname.replace(/^\[|\]$/g, '') : host
}
