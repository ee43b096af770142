import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addressFile, launcherKeyFile } from '../../src/auth/launcher-key.ts'
import { cli, gone, processTestMs, sessionVariables } from '../bridge/support/process.ts'
import { createSession, post, type TestSession } from '../support/ask.ts'
import { boundKey, callTool, connectHttp, connectMcp, endOf, onePendingOf, respond } from '../support/mcp.ts'
import { openLine } from '../support/outage.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let session: TestSession

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(async () => {
  session = await createSession(server)
})

/** `holdpoint mcp` as a runtime starts it; a data folder that is not there keeps this machine's own server out of it. */
async function start(environment: Record<string, string>): Promise<Client & { pid: number }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, 'mcp'],
    env: { PATH: process.env.PATH ?? '', HOLDPOINT_DATA_DIR: '/no/such/folder', ...environment },
    stderr: 'ignore',
  })
  const client = await connectMcp(transport)
  return Object.assign(client, { pid: transport.pid! })
}

describe('holdpoint mcp, by the variables of a session', { timeout: processTestMs }, () => {
  it('lists what the endpoint lists', async () => {
    const [stdio, http] = [await start(sessionVariables(server.url, session.id)), await connectHttp(server)]
    expect((await stdio.listTools()).tools).toEqual((await http.listTools()).tools)
    await Promise.all([stdio.close(), http.close()])
  })

  it('asks, waits, goes on waiting, and brings the answer', async () => {
    const client = await start(sessionVariables(server.url, session.id))
    const asking = callTool(client, 'ask_person', {
      message: 'Which region?',
      requestedSchema: {
        type: 'object',
        properties: { region: { type: 'string', enum: ['eu', 'us'] } },
        required: ['region'],
      },
    })
    const first = await onePendingOf(server, session.id)
    expect(first).toMatchObject({
      message: 'Which region?',
      toolName: 'ask_person',
      serverName: 'the agent itself',
    })
    await respond(server, first.requestId, { action_type: 'accept', content: { region: 'eu' } })
    expect((await asking).data).toEqual({
      request_id: first.requestId,
      action: 'accept',
      content: { region: 'eu' },
      note: null,
    })

    const handed = await callTool(client, 'ask_person', { message: 'Go?', wait_seconds: 0.5 })
    expect(handed.data.action).toBe('pending')
    const { request_id } = handed.data
    const waiting = callTool(client, 'await_answer', { request_id })
    await respond(server, request_id, { action_type: 'decline', note: 'no' })
    expect((await waiting).data).toEqual({ request_id, action: 'decline', content: null, note: 'no' })
    expect((await callTool(client, 'await_answer', { request_id: 'nobody-asked' })).text).toMatch(
      /^NOT_FOUND/,
    )
    expect((await callTool(client, 'get_session', { session_id: session.id })).text).toMatch(
      /^NOT_CONFIGURED: .*HOLDPOINT_API_KEY/s,
    )
    await client.close()
  })

  it('takes no launcher key that lies about, by which an agent would see other sessions', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdpoint-test-'))
    await Promise.all([
      writeFile(join(folder, launcherKeyFile), adminKey),
      writeFile(join(folder, addressFile), server.url),
    ])
    const inside = await start({ ...sessionVariables(server.url, session.id), HOLDPOINT_DATA_DIR: folder })
    expect((await callTool(inside, 'list_pending_elicitations')).text).toMatch(/^NOT_CONFIGURED/)
    const outside = await start({ HOLDPOINT_DATA_DIR: folder })
    expect((await callTool(outside, 'list_pending_elicitations')).isError).toBe(false)
    await Promise.all([inside.close(), outside.close()])
    await rm(folder, { recursive: true })
  })

  it('decides on tool uses across an outage', async () => {
    await using line = await openLine(server.url)
    const client = await start(sessionVariables(line.url, session.id))
    const asking = callTool(client, 'approve_tool_use', {
      tool_name: 'Bash',
      input: { command: 'make release' },
    })
    const { requestId } = await onePendingOf(server, session.id)
    line.cut()
    await respond(server, requestId, { action_type: 'accept' })
    line.lead(server.url)
    expect(JSON.parse((await asking).text)).toEqual({
      behavior: 'allow',
      updatedInput: { command: 'make release' },
    })
    await client.close()
  })

  it('decides nothing when the outage outlasts the deadline', async () => {
    const client = await start(
      sessionVariables('http://127.0.0.1:1', session.id, { ELICITATION_TTL_MS: '500' }),
    )
    const result = await callTool(client, 'approve_tool_use', { tool_name: 'Bash', input: {} })
    expect(result).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^UNREACHABLE: .*Nobody has decided/),
    })
    await client.close()
  })

  it('takes a question back when its call is cancelled, and when its client is gone', async () => {
    const client = await start(sessionVariables(server.url, session.id))
    const cancel = new AbortController()
    const cancelled = callTool(client, 'ask_person', { message: 'Go?' }, { signal: cancel.signal }).catch(
      () => 'cancelled',
    )
    const first = await onePendingOf(server, session.id)
    cancel.abort()
    expect(await cancelled).toBe('cancelled')
    expect(await endOf(server, first.requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })

    const lost = callTool(client, 'ask_person', { message: 'Go again?' }).catch(() => 'lost')
    const second = await onePendingOf(server, session.id)
    await client.close()
    expect(await lost).toBe('lost')
    expect(await endOf(server, second.requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })
    await gone(client.pid)
  })
})

describe('holdpoint mcp, by the address and a key', { timeout: processTestMs }, () => {
  it('answers with a key that may, in the words of the server', async () => {
    const client = await start({ HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: adminKey })
    const { body } = await post(server, session.id)
    expect(
      (await callTool(client, 'list_pending_elicitations', { session_id: session.slug })).data.total_count,
    ).toBe(1)
    const answered = await callTool(client, 'respond_to_elicitation', {
      request_id: body.requestId,
      action_type: 'accept',
    })
    expect(answered.text).toContain(`Request ${body.requestId}: accept.`)
    const again = await callTool(client, 'respond_to_elicitation', {
      request_id: body.requestId,
      action_type: 'decline',
    })
    expect(again).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^ALREADY_RESOLVED/),
      data: { status: 'accept' },
    })
    await client.close()
  })

  it('asks for the session that the key is bound to, and may not answer for it', async () => {
    const client = await start({
      HOLDPOINT_URL: server.url,
      HOLDPOINT_API_KEY: await boundKey(server, session.id),
    })
    const asking = callTool(client, 'ask_person', { message: 'Go?' })
    const { requestId } = await onePendingOf(server, session.id)
    expect(
      (await callTool(client, 'respond_to_elicitation', { request_id: requestId, action_type: 'accept' }))
        .text,
    ).toMatch(/^SELF_APPROVAL/)
    await respond(server, requestId, { action_type: 'cancel' })
    expect((await asking).data.action).toBe('cancel')
    await client.close()
  })

  it('says that the key is wrong, and that the server is away', async () => {
    const wrong = await start({ HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: 'wrong' })
    expect((await callTool(wrong, 'list_pending_elicitations')).text).toMatch(
      /^UNAUTHENTICATED: .*HOLDPOINT_API_KEY/,
    )
    await wrong.close()
    await using line = await openLine(server.url)
    const away = await start({ HOLDPOINT_URL: line.url, HOLDPOINT_API_KEY: adminKey })
    line.cut()
    expect((await callTool(away, 'list_pending_elicitations')).text).toMatch(
      /^UNREACHABLE: .*Nothing was changed/,
    )
    line.lead(server.url)
    expect((await callTool(away, 'list_pending_elicitations')).isError).toBe(false)
    await away.close()
  })
})

describe('holdpoint mcp, without anything', { timeout: processTestMs }, () => {
  it('starts, lists its tools, and says what each of them needs', async () => {
    const client = await start({})
    const { tools } = await client.listTools()
    expect(tools).toHaveLength(7)
    expect((await callTool(client, 'ask_person', { message: 'Go?' })).text).toMatch(
      /^NOT_CONFIGURED: .*ELICITATION_REQUEST_URL/,
    )
    expect((await callTool(client, 'list_pending_elicitations')).text).toMatch(/^NOT_CONFIGURED: /)
    await client.close()
  })
})
