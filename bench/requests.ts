import type { Figure } from './figure.ts'
import { interleaved, perSecond, warmUps } from './harness.ts'
import {
  adminKey,
  type House,
  httpRequest,
  nextAddress,
  type Server,
  seedPending,
  seedSessions,
} from './house.ts'

const rounds = 7
const connections = 32
const pollsARound = 8_000
const writesARound = 1_000

/** The requests that agents and people make, against node:http doing the same to the database and nothing else. */
export async function measureRequests(house: House): Promise<Figure[]> {
  const { ours, floor } = house
  const sessions = await seedSessions(house, 2_000)
  const pending = await seedPending(house, sessions)
  const polls = (requestIds: string[]) => (server: Server) => () =>
    perSecond({
      port: server.port,
      requests: pollsARound,
      connections,
      request: (i) => httpRequest('GET', `/api/v1/elicitations/${requestIds[i % requestIds.length]}?wait=0`),
    })
  const pollPending = polls(pending)
  const figures = [
    await interleaved(
      'polls of pending requests, not held',
      { atLeast: 2 },
      rounds,
      pollPending(ours),
      pollPending(floor),
    ),
  ]

  const final = await seedPending(house, await seedSessions(house, 2_000))
  await house.seed(
    `update elicitation set status = 'accept', cause = 'answered', content = '{"confirm":true}', responded_at = now(), delivered_at = now()
     where request_id = any($1)`,
    [final],
  )
  const pollFinal = polls(final)
  figures.push(
    await interleaved(
      'polls of answers that were delivered',
      { atLeast: 2 },
      rounds,
      pollFinal(ours),
      pollFinal(floor),
    ),
  )

  // Each creation comes to a session of its own, as those of different agents do, and from an address of its own limit.
  const free = await seedSessions(house, (rounds + warmUps) * 2 * writesARound)
  let serial = 0
  const creations = (server: Server) => () =>
    perSecond({
      port: server.port,
      requests: writesARound,
      connections,
      request: () =>
        httpRequest('POST', '/api/v1/elicitations', {
          headers: { 'X-Forwarded-For': nextAddress() },
          body: {
            mode: 'form',
            message: 'Delete the tenant acme? This cannot be undone.',
            requestedSchema: {
              type: 'object',
              properties: { confirm: { type: 'boolean', title: 'Delete it?' } },
              required: ['confirm'],
            },
            _meta: {
              'com.pulsemcp/request-id': `bench-${serial}`,
              'com.pulsemcp/session-id': free[serial++],
              'com.pulsemcp/tool-name': 'delete_tenant',
            },
          },
        }),
    })
  figures.push(await interleaved('create', { atLeast: 0.7 }, rounds, creations(ours), creations(floor)))

  const waiting = await seedPending(house, await seedSessions(house, (rounds + warmUps) * 2 * writesARound))
  let answered = 0
  const answers = (server: Server) => () =>
    perSecond({
      port: server.port,
      requests: writesARound,
      connections,
      request: () =>
        httpRequest('PATCH', `/api/v1/elicitations/${waiting[answered++]}/respond`, {
          headers: { 'X-API-Key': adminKey },
          body: { action_type: 'accept', content: { confirm: true } },
        }),
    })
  figures.push(await interleaved('answer', { atLeast: 0.7 }, rounds, answers(ours), answers(floor)))
  return figures
}
