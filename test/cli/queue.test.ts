import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { confirmSchema, createSession, post, requestId } from '../support/ask.ts'
import { adminKey, startServer, type TestServer } from '../support/server.ts'
import { createProject, finished, holdpoint, type Project } from './support/command.ts'

vi.setConfig({ testTimeout: 120_000 })

let server: TestServer
let project: Project
beforeAll(async () => {
  server = await startServer()
  project = await createProject()
})
afterAll(async () => {
  await project[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const asPerson = () => project.environment({ HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: adminKey })
/** Nothing is set but where this machine's server has its data. */
const asLauncher = () => project.environment({ HOLDPOINT_DATA_DIR: server.config.dataDir })

function cli(args: string[], environment = asPerson()) {
  return finished(args, { environment, cwd: project.folder })
}

async function ask(more: Record<string, unknown> = {}): Promise<string> {
  const session = await createSession(server, { title: 'A queue' })
  const id = requestId()
  expect((await post(server, session.id, { id, requestedSchema: confirmSchema, ...more })).status).toBe(201)
  return id
}

const form = {
  type: 'object',
  properties: {
    environment: {
      type: 'string',
      oneOf: [
        { const: 'st', title: 'Staging' },
        { const: 'pr', title: 'Production' },
      ],
    },
    count: { type: 'integer', minimum: 1 },
    notify: { type: 'boolean' },
    teams: { type: 'array', items: { type: 'string', enum: ['core', 'web'] } },
    reason: { type: 'string' },
  },
  required: ['environment', 'count', 'notify'],
}

describe('pending', () => {
  test('shows requests with what a person needs to answer them, and sessions whose turn has ended', async () => {
    const id = await ask({ message: 'Delete the tenant acme?\nIt has 3 users.', requestedSchema: form })
    const paused = await createSession(server, { title: 'Paused' })
    await server.graphql(`mutation($id: ID!) { pauseSession(id: $id) { __typename } }`, { id: paused.id })
    const { code, out } = await cli(['pending'], asLauncher())
    expect(code).toBe(0)
    for (const text of [
      id,
      '│ Delete the tenant acme?',
      '│ It has 3 users.',
      'environment: one of st (Staging), pr (Production)',
      'count: whole number',
      'reason (optional): text',
      'Paused: its turn ended',
    ])
      expect(out).toContain(text)
    const { requests, sessions } = JSON.parse((await cli(['pending', '--json'], asLauncher())).out)
    expect(requests.map((each: any) => each.requestId)).toContain(id)
    expect(sessions.map((each: any) => each.slug)).toContain(paused.slug)
    expect((await cli(['pending', id], asLauncher())).out).toContain('expires')
  })

  test('no line of a message can pass for one of ours, nor move the cursor', async () => {
    const id = await ask({ message: 'Harmless\n\u001b[2Jforged  session  mine' })
    const { out } = await cli(['pending', id])
    const lines = out.split('\n').filter((line) => line.includes('forged'))
    expect(lines).toEqual(['  │ ⟨U+001B⟩[2Jforged  session  mine'])
  })

  test('says of an unknown request that it is unknown', async () => {
    expect(await cli(['pending', 'nothing'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no request "nothing"'),
    })
  })
})

describe('answer', () => {
  const statusOf = async (id: string) => {
    const { elicitation } = await server.graphql(
      `query($id: String) { elicitation(requestId: $id) { status content note respondedBy { name surface } } }`,
      { id },
    )
    return elicitation
  }

  test('accepts a confirmation, from the command line', async () => {
    const id = await ask()
    expect(await cli(['answer', id, 'accept'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('accepted by admin (cli)'),
    })
    expect(await statusOf(id)).toMatchObject({
      status: 'ACCEPT',
      content: { confirm: true },
      respondedBy: { name: 'admin', surface: 'cli' },
    })
  })

  test('reads each value as its field wants it', async () => {
    const id = await ask({ requestedSchema: form })
    const values = ['environment=Staging', 'count=3', 'notify=yes', 'teams=web', 'teams=core', 'reason=a=b']
    expect((await cli(['answer', id, 'accept', ...values.flatMap((value) => ['--set', value])])).code).toBe(0)
    expect((await statusOf(id)).content).toEqual({
      environment: 'st',
      count: 3,
      notify: true,
      teams: ['core', 'web'],
      reason: 'a=b',
    })
  })

  test('takes the content as JSON, and says of each field what is wrong', async () => {
    const id = await ask({ requestedSchema: form })
    const wrong = await cli([
      'answer',
      id,
      'accept',
      '--content',
      '{"environment":"mars","count":0,"notify":true}',
    ])
    expect(wrong.code).toBe(1)
    expect(wrong.err).toMatch(/environment: .*\n?.*count: /s)
    expect((await statusOf(id)).status).toBe('PENDING')
    const right = '{"environment":"pr","count":1,"notify":false}'
    expect((await cli(['answer', id, 'accept', '--content', right, '--json'])).code).toBe(0)
    expect((await statusOf(id)).content).toEqual(JSON.parse(right))
  })

  test('declines with a note, and tells a second answer what won', async () => {
    const id = await ask()
    expect((await cli(['answer', id, 'decline', '--note', 'Not today.'])).code).toBe(0)
    expect(await statusOf(id)).toMatchObject({ status: 'DECLINE', note: 'Not today.' })
    expect(await cli(['answer', id, 'accept'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('already ended as decline'),
    })
  })

  test.each([
    [['answer', 'x', 'perhaps'], 'Allowed choices are accept, decline, cancel'],
    [['answer', 'x', 'accept', '--content', '{'], 'not JSON'],
    [['answer', 'x', 'accept', '--content', '[]'], 'must be a JSON object'],
    [['answer', 'x', 'accept', '--set', 'nothing'], 'NAME=VALUE'],
    [['answer', 'x', 'decline', '--set', 'a=b'], 'Only an accept carries content'],
  ])('refuses %j as wrong use', async (args, text) => {
    expect(await cli(args)).toMatchObject({ code: 64, err: expect.stringContaining(text) })
  })

  test('refuses with the key that every program of this user can read, and says how to get one', async () => {
    const id = await ask()
    const { code, err } = await cli(['answer', id, 'accept'], asLauncher())
    expect(code).toBe(77)
    expect(err).toContain('HOLDPOINT_API_KEY')
    expect(err).toContain('--role responder')
    expect((await statusOf(id)).status).toBe('PENDING')
    expect((await cli(['keys', 'list'], asLauncher())).code).toBe(77)
  })
})

describe('watch', () => {
  test('shows what waits already, what comes and how it goes, one JSON object a line', async () => {
    const waiting = await ask()
    await using watching = holdpoint(['watch', '--json'], { environment: asPerson(), cwd: project.folder })
    await watching.said(waiting)
    const coming = await ask()
    await watching.said(coming)
    await cli(['answer', coming, 'cancel'])
    await watching.said('ElicitationBannerRemoved')
    watching.kill('SIGINT')
    expect(await watching.exited).toBe(0)
    const banners = watching
      .out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const ofComing = banners.filter(({ elicitation }) => elicitation?.requestId === coming)
    expect(ofComing.map(({ __typename, elicitation }) => [__typename, elicitation.status])).toEqual([
      ['ElicitationBannerRaised', 'PENDING'],
      ['ElicitationBannerRemoved', 'CANCEL'],
    ])
  })

  test('ends, and says why, when its key is revoked', async () => {
    const { createApiKey } = await server.graphql(
      `mutation { createApiKey(input: { name: "short", role: VIEWER }) { ... on CreateApiKeySuccess { secret apiKey { id } } } }`,
    )
    await using watching = holdpoint(['watch'], {
      environment: project.environment({ HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: createApiKey.secret }),
      cwd: project.folder,
    })
    await watching.said('watching')
    const coming = await ask()
    await watching.said(coming)
    await server.graphql(`mutation($id: ID!) { revokeApiKey(id: $id) { __typename } }`, {
      id: createApiKey.apiKey.id,
    })
    expect(await watching.exited).toBe(77)
    expect(watching.err()).toContain('Set HOLDPOINT_API_KEY to another one')
  })
})

describe('keys', () => {
  test('makes a key, lists it without its secret, and revokes it', async () => {
    const made = await cli(['keys', 'create', 'phone', '--role', 'responder', '--expires', '90d', '--json'])
    expect(made.code).toBe(0)
    const { secret, apiKey } = JSON.parse(made.out)
    expect(apiKey).toMatchObject({ name: 'phone', role: 'RESPONDER', expiresAt: expect.any(String) })
    const listed = await cli(['keys', 'list'])
    expect(listed.out).toContain(apiKey.prefix)
    expect(listed.out).not.toContain(secret)

    const id = await ask()
    const asPhone = project.environment({ HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: secret })
    expect((await cli(['answer', id, 'accept'], asPhone)).code).toBe(0)
    expect((await cli(['keys', 'list'], asPhone)).code).toBe(77)

    expect((await cli(['keys', 'revoke', apiKey.id])).out).toContain('revoked')
    expect(await cli(['pending'], asPhone)).toMatchObject({
      code: 77,
      err: expect.stringContaining('revoked'),
    })
  })

  test('rotates a key: its successor is printed, and the old one works until the overlap is over', async () => {
    const made = JSON.parse((await cli(['keys', 'create', 'bot', '--role', 'viewer', '--json'])).out)
    const rotated = await cli(['keys', 'rotate', made.apiKey.id, '--overlap', '2h'])
    expect(rotated).toMatchObject({ code: 0, err: expect.stringContaining('works until') })
    for (const key of [made.secret, rotated.out.trim()]) {
      const environment = project.environment({ HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: key })
      expect((await cli(['pending'], environment)).code).toBe(0)
    }
    expect(await cli(['keys', 'rotate', made.apiKey.id])).toMatchObject({
      code: 1,
      err: expect.stringContaining('successor'),
    })
  })

  test.each([
    [['keys', 'rotate', 'x', '--overlap', 'soon'], '7d'],
    [['keys', 'create', 'x', '--role', 'king'], 'Allowed choices'],
    [['keys', 'create', 'x'], '--role'],
    [['keys', 'create', 'x', '--role', 'viewer', '--expires', 'soon'], '30d'],
  ])('refuses %j as wrong use', async (args, text) => {
    expect(await cli(args)).toMatchObject({ code: 64, err: expect.stringContaining(text) })
  })

  test('an unknown key to revoke, and a date in the past, are refused by the server', async () => {
    expect((await cli(['keys', 'revoke', '01980000-0000-7000-8000-000000000000'])).code).toBe(1)
    expect(await cli(['keys', 'create', 'x', '--role', 'viewer', '--expires', '2001-01-01'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('future'),
    })
  })
})
