import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type GraphqlServer, startGraphql } from '../support/graphql.ts'

let server: GraphqlServer
let launcher: string
beforeAll(async () => {
  server = await startGraphql()
  launcher = (await server.key({ role: 'launcher', name: 'the runner' })).secret
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

const nowhere = '00000000-0000-7000-8000-000000000000'
const invalidInput = '... on InvalidInputError { fields { name message } }'
const invalidTransition = '... on InvalidTransitionError { status event }'
const message = '... on UserError { message }'
const process = 'process { host pid command startedAt lastSeenAt alive endedAt exitCode signal }'

describe('a runner', () => {
  const call = async (name: 'registerProcess' | 'heartbeat' | 'reportExit', input: object) => {
    const type = name.charAt(0).toUpperCase() + name.slice(1)
    const data = await server.run(
      `mutation($input: ${type}Input!) { ${name}(input: $input) { __typename ... on ${type}Success { session { status ${process} } } ${message} ${invalidInput} ${name === 'registerProcess' ? invalidTransition : ''} } }`,
      { input },
      launcher,
    )
    return data[name]
  }

  test('reports its process, that it lives, what its host sees of the gate, and its end', async () => {
    const { id: sessionId } = await server.session()
    const registered = await call('registerProcess', {
      sessionId,
      host: 'laptop',
      pid: 4711,
      startedAt: '2026-03-01T12:00:00Z',
      command: 'claude -p',
    })
    expect(registered.session).toEqual({
      status: 'RUNNING',
      process: {
        host: 'laptop',
        pid: 4711,
        command: 'claude -p',
        startedAt: '2026-03-01T12:00:00.000Z',
        lastSeenAt: expect.any(String),
        alive: true,
        endedAt: null,
        exitCode: null,
        signal: null,
      },
    })
    const gate = { url: 'http://gate.test', reachable: false, detail: 'connection refused (ECONNREFUSED)' }
    expect((await call('heartbeat', { sessionId, gate })).session.process.alive).toBe(true)
    expect(server.asked.reports).toEqual([{ host: 'laptop', ...gate }])
    expect((await call('heartbeat', { sessionId })).session.process.alive).toBe(true)
    expect(server.asked.reports).toHaveLength(1)
    const ended = await call('reportExit', { sessionId, exitCode: 3, signal: null })
    expect(ended.session).toMatchObject({
      status: 'FAILED',
      process: { alive: false, exitCode: 3, signal: null },
    })
    const { session } = await server.run(
      'query($id: ID) { session(id: $id) { timeline(last: 2) { edges { node { type actor { kind name role } } } } } }',
      { id: sessionId },
    )
    expect(session.timeline.edges).toMatchObject(
      ['process.exited', 'session.failed'].map((type) => ({
        node: { type, actor: { kind: 'runner', name: 'the runner', role: 'LAUNCHER' } },
      })),
    )
  })

  test('is refused for no session, for an archived one, before it has registered and with nonsense', async () => {
    for (const sessionId of [nowhere, 'x', '\0']) {
      expect((await call('registerProcess', { sessionId, host: 'h', pid: 1 })).__typename).toBe(
        'NotFoundError',
      )
      expect((await call('heartbeat', { sessionId })).__typename).toBe('NotFoundError')
      expect((await call('reportExit', { sessionId, exitCode: 0 })).__typename).toBe('NotFoundError')
    }
    const { id: sessionId } = await server.session()
    expect(await call('heartbeat', { sessionId })).toMatchObject({
      __typename: 'NotFoundError',
      message: expect.stringContaining('registerProcess'),
    })
    const fieldsOf = async (name: 'registerProcess' | 'heartbeat' | 'reportExit', input: object) =>
      (await call(name, { sessionId, ...input })).fields.map((field: { name: string }) => field.name)
    expect(await fieldsOf('registerProcess', { host: ' ', pid: 0 })).toEqual(['host', 'pid'])
    expect(await fieldsOf('registerProcess', { host: 'a\0', pid: 1, command: 'x'.repeat(3_000) })).toEqual([
      'host',
      'command',
    ])
    expect(await fieldsOf('reportExit', {})).toEqual([''])
    expect(await fieldsOf('reportExit', { signal: 'kill -9' })).toEqual(['signal'])
    expect(await fieldsOf('heartbeat', { gate: { url: '\0', reachable: true } })).toEqual(['gate.url'])
    await server.run('mutation($id: ID!) { archiveSession(id: $id) { __typename } }', { id: sessionId })
    expect(await call('registerProcess', { sessionId, host: 'h', pid: 1 })).toMatchObject({
      __typename: 'InvalidTransitionError',
      status: 'ARCHIVED',
      event: 'register_process',
    })
  })
})

describe('prepareLaunch', () => {
  const prepare = async (input: object) => {
    const { prepareLaunch } = await server.run(
      `mutation($input: PrepareLaunchInput!) { prepareLaunch(input: $input) { __typename
        ... on PrepareLaunchSuccess { env { name value } mcpConfig systemPrompt warnings agentKey } ${message} ${invalidInput} } }`,
      { input },
      launcher,
    )
    return prepareLaunch
  }

  test('hands everything on, and back', async () => {
    const { id: sessionId } = await server.session()
    expect(
      await prepare({
        sessionId,
        runtime: 'CODEX',
        mcpConfig: { format: 'TOML', text: 'a = 1' },
        dotenv: 'A=1',
        withAgentKey: true,
      }),
    ).toEqual({
      __typename: 'PrepareLaunchSuccess',
      env: [{ name: 'ELICITATION_SESSION_ID', value: sessionId }],
      mcpConfig: 'a = 1',
      systemPrompt: null,
      warnings: [],
      agentKey: 'hp_agent',
    })
    expect(server.asked.launches.at(-1)).toEqual({
      sessionId,
      runtime: 'codex',
      mcpConfig: { format: 'toml', text: 'a = 1' },
      dotenv: 'A=1',
      withAgentKey: true,
      dryRun: false,
      seen: null,
    })
    expect(await prepare({ sessionId })).toMatchObject({ mcpConfig: null, agentKey: null })
    expect(server.asked.launches.at(-1)).toEqual({
      sessionId,
      runtime: null,
      mcpConfig: null,
      dotenv: null,
      withAgentKey: false,
      dryRun: false,
      seen: null,
    })
  })

  test('is refused for no session and for what no file holds', async () => {
    for (const sessionId of [nowhere, 'x'])
      expect((await prepare({ sessionId })).__typename).toBe('NotFoundError')
    const { id: sessionId } = await server.session()
    const got = await prepare({
      sessionId,
      mcpConfig: { format: 'JSON', text: 'a\0' },
      dotenv: 'x'.repeat(1024 * 1024 + 1),
    })
    expect(got.fields.map((field: { name: string }) => field.name)).toEqual(['mcpConfig.text', 'dotenv'])
  })
})

describe('the gate', () => {
  test('is told by the query and probed by the mutation', async () => {
    const fields =
      'url access expirationMs sessionsOnPlainAddress reachable detail checkedAt incident { openedAt closedAt detail pagedAt } hosts { host reachable detail checkedAt }'
    Object.assign(server.gateStatus, {
      incident: { openedAt: new Date(0), closedAt: null, detail: 'refused', pagedAt: null },
      hosts: [{ host: 'laptop', reachable: null, detail: null, checkedAt: new Date(0) }],
    })
    const { gate } = await server.run(`{ gate { ${fields} } }`)
    expect(gate).toEqual({
      url: server.gateStatus.url,
      access: 'OPEN',
      expirationMs: server.services.desk.defaultExpirationMs,
      sessionsOnPlainAddress: expect.any(Number),
      reachable: null,
      detail: null,
      checkedAt: null,
      incident: { openedAt: '1970-01-01T00:00:00.000Z', closedAt: null, detail: 'refused', pagedAt: null },
      hosts: [{ host: 'laptop', reachable: null, detail: null, checkedAt: '1970-01-01T00:00:00.000Z' }],
    })
    const { probeGate } = await server.run(
      `mutation { probeGate { ... on ProbeGateSuccess { gate { reachable detail } } } }`,
      {},
      launcher,
    )
    expect(probeGate.gate).toEqual({ reachable: true, detail: 'HTTP 404' })
    expect(server.asked.probes).toBe(1)
  })

  test('gives a session a new address', async () => {
    const { id } = await server.session()
    const rotate = async (sessionId: string) =>
      (
        await server.run(
          `mutation($id: ID!) { rotateGateToken(sessionId: $id) { __typename ... on RotateGateTokenSuccess { gateToken { url createdAt } } } }`,
          { id: sessionId },
          launcher,
        )
      ).rotateGateToken
    expect((await rotate(id)).gateToken).toEqual({
      url: expect.stringContaining('/gate/token-1/'),
      createdAt: expect.any(String),
    })
    expect((await rotate(nowhere)).__typename).toBe('NotFoundError')
    expect((await rotate('\0')).__typename).toBe('NotFoundError')
  })
})

describe('keys', () => {
  const create = async (input: object) =>
    (
      await server.run(
        `mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { __typename ${message} ${invalidInput}
          ... on CreateApiKeySuccess { secret apiKey { id name prefix role sessionId createdAt expiresAt lastUsedAt revokedAt } } } }`,
        { input },
      )
    ).createApiKey
  const revoke = async (id: string) =>
    (
      await server.run(
        `mutation($id: ID!) { revokeApiKey(id: $id) { __typename ... on RevokeApiKeySuccess { apiKey { id revokedAt } } ${message} } }`,
        { id },
      )
    ).revokeApiKey

  test('are made, used, listed without their secret, and revoked at once', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const { apiKey, secret } = await create({ name: 'the bot', role: 'RESPONDER', expiresAt })
    expect(apiKey).toMatchObject({
      name: 'the bot',
      role: 'RESPONDER',
      sessionId: null,
      expiresAt,
      lastUsedAt: null,
      revokedAt: null,
    })
    expect(secret.startsWith(apiKey.prefix)).toBe(true)
    expect((await server.run('{ viewer { name } }', {}, secret)).viewer.name).toBe('the bot')

    const listed = (await server.ask('{ apiKeys { id name prefix role } }')).body
    expect(listed.data.apiKeys).toContainEqual({
      id: apiKey.id,
      name: 'the bot',
      prefix: apiKey.prefix,
      role: 'RESPONDER',
    })
    expect(JSON.stringify(listed)).not.toContain(secret)

    expect((await revoke(apiKey.id)).apiKey).toEqual({ id: apiKey.id, revokedAt: expect.any(String) })
    await server.tail.caughtUp()
    expect((await server.ask('{ viewer { name } }', {}, secret)).status).toBe(401)
    expect((await revoke(apiKey.id)).__typename).toBe('RevokeApiKeySuccess')
    const { apiKeys } = await server.run('{ apiKeys { id revokedAt } }')
    expect(apiKeys.at(-1)).toEqual({ id: apiKey.id, revokedAt: expect.any(String) })
  })

  test('may be bound to a session', async () => {
    const session = await server.session()
    const { apiKey, secret } = await create({ name: 'the agent', role: 'VIEWER', sessionId: session.id })
    expect(apiKey.sessionId).toBe(session.id)
    expect((await server.run('{ sessions { totalCount } }', {}, secret)).sessions.totalCount).toBe(1)
  })

  test('are refused without a name, with a time in the past, for a session that is not there; no key is not found', async () => {
    const fieldsOf = async (input: object) =>
      (await create({ name: 'x', role: 'VIEWER', ...input })).fields.map(
        (field: { name: string }) => field.name,
      )
    expect(await fieldsOf({ name: ' ' })).toEqual(['name'])
    expect(await fieldsOf({ name: 'a\0b' })).toEqual(['name'])
    expect(await fieldsOf({ name: 'x'.repeat(5_000) })).toEqual(['name'])
    expect(await fieldsOf({ expiresAt: '2020-01-01T00:00:00Z' })).toEqual(['expiresAt'])
    for (const sessionId of [nowhere, 'x', '\0'])
      expect((await create({ name: 'x', role: 'VIEWER', sessionId })).__typename).toBe('NotFoundError')
    for (const id of [nowhere, 'x', '\0']) expect((await revoke(id)).__typename).toBe('NotFoundError')
  })
})
