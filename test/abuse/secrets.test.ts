import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { confirmSchema, createSession, post, requestId } from '../support/ask.ts'
import { callTool, connectHttp } from '../support/mcp.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'

/** Every secret that the server handed out or was given, by what it is. */
const secrets = new Map<string, string>()
let server: TestServer
let webhooks = 0
const receiver = createServer((request, response) => {
  webhooks++
  request.resume().on('end', () => response.writeHead(500).end('token=echoed-by-the-receiver'))
})

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  secrets.set('the token in the address of the webhook', 'webhook-address-token-5f2c')
  const signingSecret = Buffer.from('a-signing-secret-of-32-bytes-now').toString('base64')
  secrets.set('the secret that signs webhooks', signingSecret)
  server = await startServer({
    environment: {
      LOG_LEVEL: 'trace',
      HOLDPOINT_GATE_ACCESS: 'mixed',
      HOLDPOINT_NOTIFY_WEBHOOK_URL: `http://127.0.0.1:${port}/hook?token=${secrets.get('the token in the address of the webhook')}`,
      HOLDPOINT_WEBHOOK_SECRET: signingSecret,
    },
  })
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  receiver.closeAllConnections()
  receiver.close()
})

it('no secret that it handed out is in a log line or on the timeline of a busy server', {
  timeout: 60_000,
}, async () => {
  secrets.set('the admin key', adminKey)
  const session = await createSession(server)

  // Keys, used rightly and wrongly, on every surface.
  for (const role of ['VIEWER', 'RESPONDER']) {
    const { createApiKey } = await server.graphql(
      'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { ... on CreateApiKeySuccess { secret apiKey { id } } } }',
      { input: { name: `a ${role}`, role } },
    )
    secrets.set(`a key of the role ${role}`, createApiKey.secret)
    const client = await connectHttp(server, createApiKey.secret)
    await callTool(client, 'respond_to_elicitation', { request_id: 'none', action_type: 'accept' })
    await client.close()
    await new Promise<void>((resolve) => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
      socket.on('open', () =>
        socket.send(JSON.stringify({ type: 'connection_init', payload: { apiKey: createApiKey.secret } })),
      )
      socket.on('message', () => socket.close())
      socket.on('close', () => resolve())
    })
    if (role === 'VIEWER')
      await server.graphql('mutation($id: ID!) { revokeApiKey(id: $id) { __typename } }', {
        id: createApiKey.apiKey.id,
      })
    await server.rest('PATCH', '/api/v1/elicitations/none/respond', { key: createApiKey.secret, body: {} })
    await server.rest('POST', '/graphql', { key: createApiKey.secret, body: '{' })
    await server.rest('GET', `/api/v1/elicitations/none?key=${createApiKey.secret}`)
  }

  // Browsers.
  const link = server.app.signInLink!.split('#')[1]!
  secrets.set('the token of the sign-in link', link)
  for (let i = 0; i < 2; i++) await server.rest('POST', '/api/v1/sign-in', { body: { link } })
  const { headers } = await server.rest('POST', '/api/v1/sign-in', { body: { key: adminKey } })
  const cookie = headers.get('set-cookie')!.split(';')[0]!
  const value = decodeURIComponent(cookie.split('=')[1]!)
  secrets.set('a cookie', value)
  secrets.set('the token in a cookie', value.split('.')[0]!)
  for (const site of ['same-origin', 'cross-site'])
    await server.rest('POST', '/graphql', {
      headers: { cookie, 'sec-fetch-site': site },
      body: { query: '{ viewer { name } }' },
    })
  await server.rest('POST', '/api/v1/sign-out', { headers: { cookie, 'sec-fetch-site': 'same-origin' } })

  // Capability addresses, living and ended, and what is not one.
  const { prepareLaunch } = await server.graphql(
    `mutation($input: PrepareLaunchInput!) { prepareLaunch(input: $input) {
      ... on PrepareLaunchSuccess { env { name value } mcpConfig agentKey } } }`,
    {
      input: {
        sessionId: session.id,
        runtime: 'CLAUDE_CODE',
        withAgentKey: true,
        mcpConfig: {
          format: 'JSON',
          text: JSON.stringify({
            mcpServers: { tenants: { command: 'x', env: { TENANTS_PASSWORD: 'of-the-mcp-server-9c1' } } },
          }),
        },
      },
    },
  )
  secrets.set('the key of the agent', prepareLaunch.agentKey)
  secrets.set('a credential in an MCP config', 'of-the-mcp-server-9c1')
  const addresses = [
    prepareLaunch.env.find(({ name }: { name: string }) => name === 'ELICITATION_REQUEST_URL').value,
    JSON.parse(prepareLaunch.mcpConfig).mcpServers.tenants.env.ELICITATION_REQUEST_URL,
  ].map((url) => new URL(url).pathname)
  for (const [i, path] of addresses.entries()) {
    secrets.set(`the token of capability address ${i}`, path.split('/')[4]!)
    const { body } = await post(server, 'another-session', { requestedSchema: confirmSchema }, path)
    secrets.set(`the withdraw token ${i}`, body._meta['holdpoint/withdraw'])
    await server.rest('GET', `${path}/${body.requestId}?wait=0`)
    await server.rest('GET', `${path}/${requestId()}?wait=0`)
    await server.rest('POST', path, { body: '{' })
    await server.rest('POST', path, { body: { message: 'x'.repeat(300_000) } })
    await server.rest('PUT', `${path}/none/of/this`)
    await server.rest('GET', `${path}/${body.requestId}?wait=0`, { headers: { host: 'evil.test' } })
    await server.rest('DELETE', `${path}/${body.requestId}`, {
      headers: { 'holdpoint-withdraw': body._meta['holdpoint/withdraw'] },
    })
  }
  await server.graphql('mutation($id: ID!) { archiveSession(id: $id) { __typename } }', { id: session.id })
  await post(server, session.id, {}, addresses[0])

  // Whoever withdraws on the plain address, and answers that carry what was asked for.
  const open = await createSession(server)
  const { body } = await post(server, open.id, {
    requestedSchema: { type: 'object', properties: { password: { type: 'string' } } },
  })
  secrets.set('the withdraw token on the plain address', body._meta['holdpoint/withdraw'])
  secrets.set('the content of an answer', 'correct-horse-battery')
  await server.rest('PATCH', `/api/v1/elicitations/${body.requestId}/respond`, {
    key: adminKey,
    body: { action_type: 'accept', content: { password: 'correct-horse-battery' } },
  })
  await server.rest('GET', `/api/v1/elicitations/${body.requestId}`)
  await server.rest('DELETE', `/api/v1/elicitations/${body.requestId}`, {
    headers: { 'holdpoint-withdraw': body._meta['holdpoint/withdraw'] },
  })
  await expect.poll(() => webhooks, { timeout: 20_000 }).toBeGreaterThan(1)

  const { auditLog } = await server.graphql(
    '{ auditLog(first: 100) { totalCount edges { node { type actor { name } data } } } }',
  )
  expect(auditLog.totalCount).toBeLessThanOrEqual(100)
  await server.app.close()
  const written = { log: server.logLines.join(''), timeline: JSON.stringify(auditLog) }
  expect(server.logLines.length).toBeGreaterThan(40)
  expect(secrets.size).toBeGreaterThan(12)
  for (const [name, secret] of secrets) {
    expect(secret.length, name).toBeGreaterThan(10)
    for (const [where, text] of Object.entries(written))
      for (const form of [secret, encodeURIComponent(secret)])
        expect(text.includes(form), `${name} is in the ${where}`).toBe(false)
  }
})
