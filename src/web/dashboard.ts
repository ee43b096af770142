import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyHelmet from '@fastify/helmet'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'

/** Where the built page keeps the place of the nonce. */
const noncePlace = '__CSP_NONCE__'

/** Paths that belong to programs: nothing there is ever answered with a page. */
const programPaths = /^\/(api|graphql|mcp|livez|readyz|metrics)(\/|$|\?)/

/** Serves the dashboard as it was built into `folder`: its files, and its page for every address that is one of its own. */
export async function registerDashboard(app: FastifyInstance, { folder }: { folder: string }): Promise<void> {
  await app.register(fastifyHelmet, {
    global: false,
    contentSecurityPolicy: false,
    crossOriginEmbedderPolicy: false,
    strictTransportSecurity: false,
    referrerPolicy: { policy: 'no-referrer' },
  })
  const page = readPage(folder)
  if (existsSync(folder))
    await app.register(fastifyStatic, {
      root: folder,
      index: false,
      preCompressed: true,
      wildcard: false,
      setHeaders(reply, path) {
        reply.header('X-Content-Type-Options', 'nosniff')
        // Built files carry a hash of their content in their names; the others are looked at again each time.
        reply.header(
          'Cache-Control',
          path.includes(`${join(folder, 'assets')}`) ? 'public, max-age=31536000, immutable' : 'no-cache',
        )
      },
    })

  async function sendPage(reply: FastifyReply) {
    const nonce = randomBytes(16).toString('base64url')
    await reply.helmet({ contentSecurityPolicy: { useDefaults: false, directives: directives(nonce) } })
    return reply
      .header('Cache-Control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(page.replaceAll(noncePlace, nonce))
  }

  app.get('/', (_, reply) => sendPage(reply))
  app.get('/*', (request, reply) => {
    const wantsPage = !programPaths.test(request.url) && (request.headers.accept ?? '').includes('text/html')
    return wantsPage ? sendPage(reply) : reply.callNotFound()
  })
}

function directives(nonce: string) {
  return {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", `'nonce-${nonce}'`],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'"],
    connectSrc: ["'self'"],
    manifestSrc: ["'self'"],
    workerSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
  }
}

function readPage(folder: string): string {
  const file = join(folder, 'index.html')
  if (existsSync(file)) return readFileSync(file, 'utf8')
  return '<!doctype html><title>Holdpoint</title><p>The dashboard is not built. Run <code>npm run build</code> and start again.'
}
