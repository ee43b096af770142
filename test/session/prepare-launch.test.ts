import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSession, post } from '../support/ask.ts'
import { startServer, type TestServer } from '../support/server.ts'

const mcpConfig = {
  format: 'JSON',
  text: JSON.stringify({
    mcpServers: {
      tickets: { command: 'node' },
      tenants: { command: 'node' },
      remote: { type: 'http', url: 'https://mcp.example.com' },
    },
  }),
}

const servers: Record<string, TestServer> = {}
beforeAll(async () => {
  for (const access of ['open', 'mixed', 'capability'])
    servers[access] = await startServer({ environment: { HOLDPOINT_GATE_ACCESS: access } })
})
afterAll(async () => {
  for (const server of Object.values(servers)) await server[Symbol.asyncDispose]()
})

async function prepare(server: TestServer, input: Record<string, unknown>) {
  const { prepareLaunch } = await server.graphql(
    `mutation($input: PrepareLaunchInput!) { prepareLaunch(input: $input) { __typename
      ... on PrepareLaunchSuccess { env { name value } mcpConfig systemPrompt warnings agentKey }
      ... on UserError { message } } }`,
    { input },
  )
  return prepareLaunch
}

const valueIn = (prepared: any, name: string) => prepared.env.find((each: any) => each.name === name)?.value
const pathOf = (url: string) => new URL(url).pathname

async function events(server: TestServer, id: string) {
  const { session } = await server.graphql(
    `query($id: ID) { session(id: $id) { timeline(last: 100) { edges { node { type data actor { name } } } } } }`,
    { id },
  )
  return session.timeline.edges.map(({ node }: any) => node)
}

describe('prepareLaunch', () => {
  test('hands out the plain address where the gate is open, and makes no token', async () => {
    const server = servers.open!
    const { id } = await createSession(server)
    const prepared = await prepare(server, { sessionId: id, mcpConfig, runtime: 'CLAUDE_CODE' })
    expect(prepared.env).toEqual([
      { name: 'ELICITATION_REQUEST_URL', value: `${server.url}/api/v1/elicitations` },
      { name: 'ELICITATION_POLL_URL', value: `${server.url}/api/v1/elicitations` },
      { name: 'ELICITATION_PREFER_HTTP_FALLBACK', value: 'true' },
      { name: 'ELICITATION_TTL_MS', value: '3600000' },
      { name: 'ELICITATION_SESSION_ID', value: id },
    ])
    const config = JSON.parse(prepared.mcpConfig).mcpServers
    expect(config.tickets).toMatchObject({ timeout: 3_900_000, env: { ELICITATION_SESSION_ID: id } })
    expect(config.remote).not.toHaveProperty('env')
    expect(prepared).toMatchObject({ warnings: [], agentKey: null })
    const written = await events(server, id)
    expect(written.map(({ type }: any) => type)).not.toContain('gate.token_created')
    expect(written.at(-1)).toMatchObject({
      type: 'launch.prepared',
      actor: { name: 'admin' },
      data: {
        runtime: 'claude_code',
        overridden: [],
        detail: null,
        servers: [
          { name: 'tickets', kind: 'stdio' },
          { name: 'tenants', kind: 'stdio' },
          { name: 'remote', kind: 'remote' },
        ],
      },
    })
  })

  test.each(['mixed', 'capability'])(
    'gives the session and each of its servers an address of its own: %s',
    async (access) => {
      const server = servers[access]!
      const { id } = await createSession(server)
      const prepared = await prepare(server, { sessionId: id, mcpConfig })
      const config = JSON.parse(prepared.mcpConfig).mcpServers
      const urls = [
        valueIn(prepared, 'ELICITATION_REQUEST_URL'),
        config.tickets.env.ELICITATION_REQUEST_URL,
        config.tenants.env.ELICITATION_REQUEST_URL,
      ]
      expect(new Set(urls).size).toBe(3)
      expect(config.tickets.env.ELICITATION_POLL_URL).toBe(config.tickets.env.ELICITATION_REQUEST_URL)

      // The address decides the session, whatever the request says, and tells which server asks.
      const names = []
      for (const url of urls) {
        const { status, body } = await post(server, 'another', {}, pathOf(url))
        expect(status).toBe(201)
        const { elicitation } = await server.graphql(
          `query($id: String) { elicitation(requestId: $id) { serverName session { id } } }`,
          { id: body.requestId },
        )
        expect(elicitation.session.id).toBe(id)
        names.push(elicitation.serverName)
      }
      expect(names).toEqual([null, 'tickets', 'tenants'])
      expect((await post(server, id)).status).toBe(access === 'mixed' ? 201 : 403)
      expect(
        (await events(server, id)).filter(({ type }: any) => type === 'gate.token_created'),
      ).toHaveLength(3)
    },
  )

  test('leaves every earlier address alive, until the archive', async () => {
    const server = servers.mixed!
    const { id } = await createSession(server)
    const first = valueIn(await prepare(server, { sessionId: id }), 'ELICITATION_REQUEST_URL')
    const second = valueIn(await prepare(server, { sessionId: id }), 'ELICITATION_REQUEST_URL')
    expect((await post(server, id, {}, pathOf(first))).status).toBe(201)
    await server.graphql(`mutation($id: ID!) { archiveSession(id: $id) { __typename } }`, { id })
    for (const url of [first, second]) expect((await post(server, id, {}, pathOf(url))).status).toBe(403)
    expect(await prepare(server, { sessionId: id })).toMatchObject({
      __typename: 'InvalidTransitionError',
      message: expect.stringContaining('Unarchive it'),
    })
  })

  test('servers beyond the first hundred share the address of the session, with a warning', async () => {
    const server = servers.mixed!
    const { id } = await createSession(server)
    const many = Object.fromEntries(Array.from({ length: 102 }, (_, i) => [`s${i}`, { command: 'x' }]))
    const prepared = await prepare(server, {
      sessionId: id,
      runtime: 'CLAUDE_CODE',
      mcpConfig: { format: 'JSON', text: JSON.stringify({ mcpServers: many }) },
    })
    const config = JSON.parse(prepared.mcpConfig).mcpServers
    const own = valueIn(prepared, 'ELICITATION_REQUEST_URL')
    expect(config.s99.env.ELICITATION_REQUEST_URL).not.toBe(own)
    expect(config.s101.env.ELICITATION_REQUEST_URL).toBe(own)
    expect(prepared.warnings).toEqual([expect.stringContaining('102 servers')])
    expect((await events(server, id)).at(-1).data.servers).toHaveLength(100)
  })

  test('lets the .env win, says what it overrides, and shows no secret of it', async () => {
    const server = servers.open!
    const { id } = await createSession(server)
    const dotenv = 'ELICITATION_REQUEST_URL=https://me:pass@other.example/x\nELICITATION_TTL_MS=60000'
    const prepared = await prepare(server, { sessionId: id, mcpConfig, dotenv })
    expect(valueIn(prepared, 'ELICITATION_REQUEST_URL')).toBe('https://me:pass@other.example/x')
    expect(JSON.parse(prepared.mcpConfig).mcpServers.tickets.env.ELICITATION_TTL_MS).toBe('60000')
    expect(prepared.warnings[0]).toContain('sets ELICITATION_REQUEST_URL but not ELICITATION_POLL_URL')
    const { data } = (await events(server, id)).at(-1)
    expect(data.overridden).toEqual(['ELICITATION_REQUEST_URL', 'ELICITATION_TTL_MS'])
    expect(data.detail).toBe(
      "The session's .env sets ELICITATION_REQUEST_URL, ELICITATION_TTL_MS; requests go to https://[redacted]@other.example/x",
    )
  })

  test('gives back a config that it cannot read as it was, with a warning and the prompt', async () => {
    const server = servers.open!
    const { id } = await createSession(server)
    const prepared = await prepare(server, {
      sessionId: id,
      mcpConfig: { format: 'TOML', text: '[mcp_servers' },
      runtime: 'CODEX',
    })
    expect(prepared.mcpConfig).toBe('[mcp_servers')
    expect(prepared.warnings).toEqual([expect.stringContaining('could not be read as TOML')])
    expect(prepared.systemPrompt).toContain('# Approval gate')
  })

  test('makes a key for the agent when it is asked to: it sees its own session and answers nothing', async () => {
    const server = servers.open!
    const [mine, other] = [await createSession(server), await createSession(server)]
    const { agentKey } = await prepare(server, { sessionId: mine.id, withAgentKey: true })
    const see = (id: string) => server.graphql(`query($id: ID) { session(id: $id) { id } }`, { id }, agentKey)
    expect((await see(mine.id)).session).toEqual({ id: mine.id })
    expect((await see(other.id)).session).toBeNull()
    const { body } = await post(server, mine.id)
    const { respondToElicitation } = await server.graphql(
      `mutation($id: String!) { respondToElicitation(input: { requestId: $id, action: ACCEPT }) { __typename } }`,
      { id: body.requestId },
      agentKey,
    )
    expect(respondToElicitation.__typename).toBe('SelfApprovalError')
  })

  test('says nothing to a session without MCP servers, unless the gate is broken where its agent runs', async () => {
    const server = servers.open!
    const { id } = await createSession(server)
    expect((await prepare(server, { sessionId: id })).systemPrompt).toBeNull()
    expect((await prepare(server, { sessionId: id, mcpConfig })).systemPrompt).toMatch(/^# Approval gate\n/)
    await server.graphql(
      `mutation($id: ID!) {
        registerProcess(input: { sessionId: $id, host: "far", pid: 7 }) { __typename }
        heartbeat(input: { sessionId: $id, gate: { url: "http://gate.example", reachable: false, detail: "no route" } }) { __typename } }`,
      { id },
    )
    expect((await prepare(server, { sessionId: id })).systemPrompt).toMatch(
      /^# Approval gate: broken[\s\S]*no route\), checked from far at/,
    )
  })

  test('puts what was seen from the host on the record, and lets the prompt go by it', async () => {
    const server = servers.open!
    const { id } = await createSession(server)
    const seen = { host: 'near', url: 'http://gate.example', reachable: false, detail: 'no way' }
    const broken = await prepare(server, { sessionId: id, seen })
    expect(broken.systemPrompt).toMatch(/^# Approval gate: broken[\s\S]*no way\), checked from near at/)
    const { gate } = await server.graphql('{ gate { hosts { host reachable detail } } }')
    expect(gate.hosts).toContainEqual({ host: 'near', reachable: false, detail: 'no way' })
    const well = await prepare(server, { sessionId: id, seen: { ...seen, reachable: true, detail: null } })
    expect(well.systemPrompt).toBeNull()
    const reports = (await events(server, id)).filter(({ type }: any) => type === 'gate.reported')
    expect(reports.map(({ data }: any) => data.reachable)).toEqual([false, true])
  })

  test.each(['open', 'capability'])(
    'makes and records nothing in a dry run, and shows what would be written: %s',
    async (access) => {
      const server = servers[access]!
      const { id } = await createSession(server)
      const before = await events(server, id)
      const seen = { host: 'dry', url: 'http://gate.example', reachable: true }
      const rehearsed = await prepare(server, {
        sessionId: id,
        runtime: 'CLAUDE_CODE',
        mcpConfig,
        withAgentKey: true,
        seen,
        dryRun: true,
      })
      expect(rehearsed).toMatchObject({ agentKey: null, warnings: [] })
      const path = access === 'open' ? '/api/v1/elicitations' : '/api/v1/gate/made-when-written/elicitations'
      const { env } = JSON.parse(rehearsed.mcpConfig).mcpServers.tickets
      for (const url of [env.ELICITATION_REQUEST_URL, valueIn(rehearsed, 'ELICITATION_POLL_URL')])
        expect(pathOf(url)).toBe(path)
      expect(await events(server, id)).toEqual(before)
      const { gate } = await server.graphql('{ gate { hosts { host } } }')
      expect(gate.hosts).not.toContainEqual({ host: 'dry' })
    },
  )

  test.each([false, true])(
    'is refused for a session that is not there, or archived: dry run %s',
    async (dryRun) => {
      const server = servers.open!
      const sessionId = '01980000-0000-7000-8000-000000000000'
      expect((await prepare(server, { sessionId, dryRun })).__typename).toBe('NotFoundError')
      const { id } = await createSession(server)
      await server.graphql(`mutation($id: ID!) { archiveSession(id: $id) { __typename } }`, { id })
      expect((await prepare(server, { sessionId: id, dryRun })).__typename).toBe('InvalidTransitionError')
    },
  )

  test('the keys that are bound to a session end with its archive, each on the timeline, and no other key does', async () => {
    const server = servers.open!
    const [mine, other] = [await createSession(server), await createSession(server)]
    const keyOf = async (sessionId: string) =>
      (await prepare(server, { sessionId, withAgentKey: true })).agentKey as string
    const [first, second, others] = [await keyOf(mine.id), await keyOf(mine.id), await keyOf(other.id)]
    const works = async (key: string) =>
      server.graphql('{ viewer { sessionId } }', {}, key).then(
        () => true,
        () => false,
      )
    expect([await works(first), await works(second), await works(others)]).toEqual([true, true, true])
    await server.graphql(`mutation($id: ID!) { archiveSession(id: $id) { __typename } }`, { id: mine.id })
    // The server remembers a key for a moment, until the timeline has told it.
    await expect.poll(async () => [await works(first), await works(second)]).toEqual([false, false])
    expect(await works(others)).toBe(true)
    const revoked = (await events(server, mine.id)).filter(({ type }: any) => type === 'key.revoked')
    expect(revoked).toHaveLength(2)
  })
})
