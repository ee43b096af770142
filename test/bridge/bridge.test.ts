import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSession, type TestSession } from '../support/ask.ts'
import { boundKey, callTool, endOf, onePendingOf, pendingOf, respond } from '../support/mcp.ts'
import { openLine } from '../support/outage.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  connectBridged,
  gone,
  processTestMs,
  serverFile,
  sessionVariables,
  spawnCli,
} from './support/process.ts'

let server: TestServer
let skewMs = 0
let session: TestSession

beforeAll(async () => {
  server = await startServer({ now: () => new Date(Date.now() + skewMs) })
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(async () => {
  skewMs = 0
  session = await createSession(server)
})

const environment = (more: Record<string, string> = {}) => sessionVariables(server.url, session.id, more)
const answerOf = ({ text }: { text: string }) => JSON.parse(text)

describe('a server of revision 2025-11-25 behind the bridge, before a client that cannot be asked', {
  timeout: processTestMs,
}, () => {
  it('gets each of the answers that a person can give, and a cancel from the clock', async () => {
    const { client } = await connectBridged(environment())
    const ask = () => callTool(client, 'delete_tenant', { tenant: 'acme' })

    const accepted = ask()
    const first = await onePendingOf(server, session.id)
    expect(first).toMatchObject({
      message: 'Delete the tenant acme?',
      toolName: 'delete_tenant',
      serverName: 'tickets',
      context: 'The tool was called with:\ntenant: acme',
      meta: { 'holdpoint/server-info': { name: 'legacy' } },
    })
    await respond(server, first.requestId, {
      action_type: 'accept',
      content: { confirm: true, region: 'eu' },
    })
    expect(answerOf(await accepted)).toEqual({ action: 'accept', content: { confirm: true, region: 'eu' } })

    for (const action of ['decline', 'cancel']) {
      const asked = ask()
      await respond(server, (await onePendingOf(server, session.id)).requestId, { action_type: action })
      expect(answerOf(await asked)).toEqual({ action })
    }

    const expired = ask()
    const last = await onePendingOf(server, session.id)
    skewMs = 2 * 3_600_000
    await server.rest('GET', `/api/v1/elicitations/${last.requestId}?wait=0`)
    expect(answerOf(await expired)).toEqual({ action: 'cancel' })
    expect(await endOf(server, last.requestId)).toMatchObject({ status: 'EXPIRED' })

    const visited = callTool(client, 'visit')
    const visit = await onePendingOf(server, session.id)
    expect(visit).toMatchObject({ mode: 'URL', url: 'https://id.example.org/x' })
    await respond(server, visit.requestId, { action_type: 'accept' })
    expect(answerOf(await visited)).toEqual({ action: 'accept' })

    // It gives up after 300 ms, and the person is not left with a question that nobody asks any more.
    const impatient = await callTool(client, 'impatient')
    expect(answerOf(impatient).failed).toContain('timed out')
    await pendingOf(server, session.id, 0)
    await client.close()
  })

  it('gets twenty answers in whatever order they are given', async () => {
    const { client } = await connectBridged(environment())
    const calls = Array.from({ length: 20 }, (_, i) => callTool(client, 'delete_tenant', { tenant: `t${i}` }))
    const pending = await pendingOf(server, session.id, 20)
    const shuffled = pending.toSorted((a, b) => (a.requestId < b.requestId ? -1 : 1))
    const isOdd = (message: string) => Number(/t(\d+)\?/.exec(message)![1]) % 2 === 1
    await Promise.all(
      shuffled.map(({ requestId, message }) =>
        respond(
          server,
          requestId,
          isOdd(message) ? { action_type: 'decline' } : { action_type: 'accept', content: { confirm: true } },
        ),
      ),
    )
    const answers = await Promise.all(calls)
    expect(answers.map((each) => answerOf(each).action)).toEqual(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? 'decline' : 'accept')),
    )
    await client.close()
  })

  it('is told what its client can be asked, and none of our secrets', async () => {
    const { client, closed } = await connectBridged(environment({ HOLDPOINT_API_KEY: 'hp_secret' }))
    const facts = answerOf(await callTool(client, 'facts'))
    expect(facts.capabilities).toEqual({ elicitation: { form: {}, url: {} } })
    expect(facts.names).not.toContain('HOLDPOINT_API_KEY')
    await client.close()
    await closed
    // With it goes what it has started.
    await Promise.all([gone(facts.pid), gone(facts.child)])
  })

  it('has its question taken back when its client cancels the call', async () => {
    const { client } = await connectBridged(environment())
    const cancel = new AbortController()
    const asked = callTool(client, 'delete_tenant', { tenant: 'acme' }, { signal: cancel.signal }).catch(
      (error) => String(error),
    )
    const { requestId } = await onePendingOf(server, session.id)
    cancel.abort('enough')
    expect(await asked).toContain('enough')
    expect(await endOf(server, requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })
    await client.close()
  })

  it('has its question taken back when it crashes, and its exit code passed on', async () => {
    using bridged = spawnCli(['bridge', '--', process.execPath, serverFile('legacy')], environment())
    bridged.send({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    })
    await bridged.line(1)
    bridged.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    bridged.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'delete_tenant', arguments: { tenant: 'acme' } },
    })
    const { requestId } = await onePendingOf(server, session.id)
    bridged.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'crash', arguments: {} } })
    expect(await bridged.exited).toBe(3)
    expect(await endOf(server, requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })
  })

  it('has its question taken back when its client crashes, and ends with it', async () => {
    const { client, pid } = await connectBridged(environment())
    const facts = answerOf(await callTool(client, 'facts'))
    const asked = callTool(client, 'delete_tenant', { tenant: 'acme' }).catch(() => 'closed')
    const { requestId } = await onePendingOf(server, session.id)
    // What a crash of the client is to the bridge: the end of its stdin, with a call still open.
    const { transport } = client as unknown as { transport: { _process: { stdin: { destroy(): void } } } }
    transport._process.stdin.destroy()
    expect(await endOf(server, requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })
    await Promise.all([gone(pid), gone(facts.pid), gone(facts.child)])
    expect(await asked).toBe('closed')
  })

  it('has its question taken back when the bridge is told to end', async () => {
    const { client, pid } = await connectBridged(environment())
    const asked = callTool(client, 'delete_tenant', { tenant: 'acme' }).catch(() => 'closed')
    const { requestId } = await onePendingOf(server, session.id)
    process.kill(pid, 'SIGTERM')
    expect(await endOf(server, requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })
    await gone(pid)
    expect(await asked).toBe('closed')
  })
})

describe('a server of revision 2026-07-28 behind the bridge', { timeout: processTestMs }, () => {
  it('gets its answer in a second call, and the client one reply', async () => {
    using bridged = spawnCli(['bridge', '--', process.execPath, serverFile('modern')], environment())
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    bridged.send({ jsonrpc: '2.0', id: 'd', method: 'server/discover', params: { _meta } })
    expect(await bridged.line(1)).toMatchObject({ id: 'd', result: { serverInfo: { name: 'modern' } } })
    bridged.send({
      jsonrpc: '2.0',
      id: 0,
      method: 'tools/call',
      params: { name: 'delete_tenant', arguments: { tenant: 'acme' }, _meta },
    })
    const pending = await onePendingOf(server, session.id)
    expect(pending).toMatchObject({
      message: 'Delete acme?',
      toolName: 'delete_tenant',
      serverName: 'modern',
    })
    await respond(server, pending.requestId, { action_type: 'accept', content: { confirm: true } })
    const reply = await bridged.line(2)
    expect(reply.id).toBe(0)
    expect(JSON.parse(reply.result.content[0].text)).toEqual({
      state: 'state of acme',
      answer: { action: 'accept', content: { confirm: true } },
    })
    bridged.process.stdin.end()
    expect(await bridged.exited).toBe(0)
    expect(bridged.lines).toHaveLength(2)
  })
})

describe('whom the bridge asks', { timeout: processTestMs }, () => {
  it('goes by the address that the launch wrote for this very server', async () => {
    const config = JSON.stringify({ mcpServers: { billing: { command: 'x' } } })
    await using closed = await startServer({
      connectionString: server.connectionString,
      environment: { HOLDPOINT_GATE_ACCESS: 'capability' },
    })
    const { prepareLaunch } = await closed.graphql(
      `mutation($input: PrepareLaunchInput!) { prepareLaunch(input: $input) { ... on PrepareLaunchSuccess { mcpConfig } } }`,
      {
        input: { sessionId: session.id, runtime: 'CLAUDE_CODE', mcpConfig: { format: 'JSON', text: config } },
      },
    )
    const { env } = JSON.parse(prepareLaunch.mcpConfig).mcpServers.billing
    const { client } = await connectBridged({ PATH: process.env.PATH!, ...env }, ['--server', 'a claim'])
    const asked = callTool(client, 'delete_tenant', { tenant: 'acme' })
    const pending = await onePendingOf(closed, session.id)
    expect(pending.serverName).toBe('billing')
    await respond(closed, pending.requestId, { action_type: 'accept', content: { confirm: false } })
    expect(answerOf(await asked)).toEqual({ action: 'accept', content: { confirm: false } })
    await client.close()
  })

  it('takes a key that is bound to the session instead', async () => {
    const key = await boundKey(server, session.id)
    const { client } = await connectBridged({
      PATH: process.env.PATH!,
      HOLDPOINT_URL: server.url,
      HOLDPOINT_API_KEY: key,
    })
    const asked = callTool(client, 'delete_tenant', { tenant: 'acme' })
    await respond(server, (await onePendingOf(server, session.id)).requestId, {
      action_type: 'decline',
      note: 'not today',
    })
    expect(answerOf(await asked)).toEqual({ action: 'decline', _meta: { 'holdpoint/note': 'not today' } })
    await client.close()
  })

  it('is nobody without an address: everything passes, and the server sees a client that cannot be asked', async () => {
    const { client } = await connectBridged({ PATH: process.env.PATH! })
    expect(answerOf(await callTool(client, 'facts')).capabilities).toEqual({})
    expect(answerOf(await callTool(client, 'delete_tenant', { tenant: 'acme' })).failed).toMatch(
      /does not support/,
    )
    await client.close()
  })
})

describe('an outage of Holdpoint', { timeout: processTestMs }, () => {
  it('is waited out, before and after the question was put', async () => {
    await using line = await openLine(server.url)
    line.cut()
    const { client } = await connectBridged(sessionVariables(line.url, session.id))
    const asked = callTool(client, 'delete_tenant', { tenant: 'acme' })
    line.lead(server.url)
    const { requestId } = await onePendingOf(server, session.id)
    line.cut()
    // Meanwhile another server has taken over, and the person has answered there.
    await using second = await startServer({ connectionString: server.connectionString })
    await respond(second, requestId, { action_type: 'accept', content: { confirm: true } })
    line.lead(second.url)
    expect(answerOf(await asked)).toEqual({ action: 'accept', content: { confirm: true } })
    await client.close()
  })

  it('that outlasts the deadline is an error that names it, and never a decline', async () => {
    const { client } = await connectBridged(
      sessionVariables('http://127.0.0.1:1', session.id, { ELICITATION_TTL_MS: '500' }),
    )
    const { failed } = answerOf(await callTool(client, 'delete_tenant', { tenant: 'acme' }))
    expect(failed).toMatch(/-32603.*UNREACHABLE.*Nobody has decided/)
    await client.close()
  })

  it('is told apart from an address that is none of Holdpoint’s, and from a session that is not there', async () => {
    const nowhere = await connectBridged(sessionVariables(server.url, 'no-such-session'))
    expect(answerOf(await callTool(nowhere.client, 'delete_tenant', { tenant: 'acme' })).failed).toMatch(
      /-32603.*NOT_FOUND.*no-such-session/,
    )
    await nowhere.client.close()
  })
})

describe('the command line', { timeout: processTestMs }, () => {
  it('says that the server cannot be started, with the exit code of a shell', async () => {
    using missing = spawnCli(['bridge', '--', '/no/such/server', '--flag'], environment())
    expect(await missing.exited).toBe(127)
    expect(missing.errors.join('\n')).toMatch(/cannot be started/)
  })

  it('passes the server’s own options on, and its exit code', async () => {
    using child = spawnCli(
      [
        'bridge',
        '--server',
        's',
        '--',
        process.execPath,
        '-e',
        'console.log(JSON.stringify(process.argv.slice(1)));process.exit(9)',
        '--',
        '--server',
        'x',
      ],
      environment(),
    )
    expect(await child.exited).toBe(9)
    expect(child.lines).toEqual(['["--server","x"]'])
  })
})
