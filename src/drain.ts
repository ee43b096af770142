import type { IncomingMessage } from 'node:http'
import { Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * With an external database another process takes over the port; open connections get this long to come once more, which is
 * more than the five seconds that a client sleeps between two polls.
 */
export const drainGraceDefaultMs = 6_500
const drainPollMs = 50
const quietTurnMs = 0.1
const quietTurnDoubtMs = 100
const lullMs = 20
const lullPatienceMs = 2_000
/** What is still being answered after that gets as long again as a drain can spare. */
const drainLastMs = 2_000
/**
 * Clients are asked to drop a connection that was idle for this long, which is less than the grace: so none is left idle at its
 * end that a client could be about to use. The server itself keeps them longer (see http.ts), so that it is never the first.
 */
const keepAliveHint = { Connection: 'keep-alive', 'Keep-Alive': 'timeout=5' }

/** Has every answer say for how long its connection may be used again. */
export function hintKeepAlive(http: FastifyInstance, isDraining: () => boolean): void {
  http.addHook('onSend', (request, reply, payload, done) => {
    // Whoever is answered while the server goes away comes back to another one.
    if (isDraining()) reply.header('Connection', 'close')
    else if (keepsAlive(request.raw)) reply.headers(keepAliveHint)
    done(null, payload)
  })
}

/** A header of ours would keep open what the client wants closed: some read until the end. */
function keepsAlive({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && !/\bclose\b/i.test(headers.connection ?? '')
}

/** Lets nobody new in, and keeps the connections there are. */
export async function closePort({ server }: FastifyInstance): Promise<void> {
  await untilLull(server)
  // Only the listening ends: http.Server.close would also cut idle connections that a client is about to use again.
  Server.prototype.close.call(server)
}

/** Waits for the connections there are to be used once more and to end; what is idle after the grace is cut. */
export async function untilConnectionsEnd({ server }: FastifyInstance, graceMs: number): Promise<void> {
  await untilNoneIsOpen(server, graceMs)
  server.closeIdleConnections()
  if (graceMs > 0) await untilNoneIsOpen(server, drainLastMs)
}

/**
 * Whoever has connected and was not yet let in is cut off when the port closes. So it closes when nobody has come for a while, after
 * a turn of the event loop that looked for them and had nothing else to do: in between hardly anybody comes. The longer there is
 * none on a busy machine, the longer may be what counts as one.
 */
async function untilLull(server: Server): Promise<void> {
  const start = performance.now()
  let lastCame = start
  const came = () => {
    lastCame = performance.now()
  }
  server.on('connection', came)
  // What comes before the first is the rest of a turn, which looks for nobody.
  await nextTurn()
  for (let begun = performance.now(); begun - start < lullPatienceMs; ) {
    await nextTurn()
    const ended = performance.now()
    const isQuiet = ended - begun < quietTurnMs * (1 + (ended - start) / quietTurnDoubtMs)
    if (isQuiet && ended - lastCame > lullMs) break
    begun = ended
  }
  server.off('connection', came)
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

async function untilNoneIsOpen(server: Server, patienceMs: number): Promise<void> {
  const count = () =>
    new Promise<number>((resolve) => server.getConnections((_, connections) => resolve(connections ?? 0)))
  const until = performance.now() + patienceMs
  while (performance.now() < until && (await count()) > 0)
    await new Promise((resolve) => setTimeout(resolve, drainPollMs))
}
