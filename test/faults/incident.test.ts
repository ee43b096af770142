import { createServer } from 'node:http'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { freePort, startServer, type TestServer } from '../support/server.ts'

let ending: AsyncDisposableStack
beforeEach(() => {
  ending = new AsyncDisposableStack()
})
afterEach(() => ending.disposeAsync())

/** Something that listens on loopback and keeps what is posted to it. */
async function receiver(port: number): Promise<{ posted: any[]; url: string; stop(): Promise<void> }> {
  const posted: any[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      if (request.method === 'POST') posted.push(JSON.parse(body))
      response.writeHead(request.method === 'POST' ? 204 : 404).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  ending.defer(stop)
  return { posted, url: `http://127.0.0.1:${port}/`, stop }
}

it('an incident of the gate is one page, however many servers find it broken, and the next incident is the next page', {
  timeout: 60_000,
}, async () => {
  const oncall = await receiver(await freePort())
  const gatePort = await freePort()
  const environment = {
    HOLDPOINT_ENV: 'staging',
    PUBLIC_URL: `http://127.0.0.1:${gatePort}`,
    HOLDPOINT_ALERT_WEBHOOK_URL: oncall.url,
  }
  const a = ending.use(await startServer({ environment }))
  const b = ending.use(await startServer({ environment, connectionString: a.connectionString }))
  const probe = async (server: TestServer) =>
    (
      await server.graphql(
        `mutation { probeGate { ... on ProbeGateSuccess { gate { reachable incident { openedAt closedAt pagedAt detail } } } } }`,
      )
    ).probeGate.gate
  const everywhere = () => Promise.all([a, b, a, b].map(probe))

  for (const gate of await everywhere())
    expect(gate).toMatchObject({ reachable: false, incident: { closedAt: null } })
  await everywhere()
  expect(oncall.posted).toEqual([
    {
      type: 'gate.unreachable',
      text: expect.stringContaining(`http://127.0.0.1:${gatePort}/api/v1/elicitations`),
      url: `http://127.0.0.1:${gatePort}/api/v1/elicitations`,
      detail: 'connection refused (ECONNREFUSED)',
      checkedAt: expect.any(String),
    },
  ])
  expect(await probe(b)).toMatchObject({ incident: { pagedAt: expect.any(String) } })

  const back = await receiver(gatePort)
  for (const gate of await everywhere())
    expect(gate).toMatchObject({ reachable: true, incident: { closedAt: expect.any(String) } })
  expect(oncall.posted).toHaveLength(1)

  await back.stop()
  await everywhere()
  expect(oncall.posted).toHaveLength(2)
})
