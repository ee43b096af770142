import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { confirmSchema, createSession, type TestSession } from '../support/ask.ts'
import { boundKey, endOf, onePendingOf, patienceMs, pendingOf, respond } from '../support/mcp.ts'
import { openLine } from '../support/outage.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { processTestMs, sessionVariables, spawnCli } from './support/process.ts'

let server: TestServer
let session: TestSession
let skewMs = 0

beforeAll(async () => {
  server = await startServer({ now: () => new Date(Date.now() + skewMs) })
})
afterAll(() => server[Symbol.asyncDispose]())
beforeEach(async () => {
  skewMs = 0
  session = await createSession(server)
})

/** Starts the hook as Claude Code does: the JSON on stdin, which is then closed. */
function hook(environment: Record<string, string>, input: unknown = {}, args = ['claude-code']) {
  const spawned = spawnCli(['hook', ...args], environment)
  const elicitation = {
    session_id: 's',
    hook_event_name: 'Elicitation',
    mcp_server_name: 'tickets',
    message: 'Close the ticket?',
    mode: 'form',
    requested_schema: confirmSchema,
  }
  spawned.process.stdin.end(
    typeof input === 'string' ? input : JSON.stringify({ ...elicitation, ...(input as object) }),
  )
  return spawned
}

const output = ({ lines }: { lines: string[] }) => JSON.parse(lines.join('\n')).hookSpecificOutput

describe('holdpoint hook claude-code', { timeout: processTestMs }, () => {
  it.each([
    [
      'accept',
      { action_type: 'accept', content: { confirm: true } },
      { action: 'accept', content: { confirm: true } },
    ],
    ['decline', { action_type: 'decline' }, { action: 'decline' }],
    ['cancel', { action_type: 'cancel' }, { action: 'cancel' }],
  ])('prints the %s of a person and exits with 0', async (_, answer, printed) => {
    using called = hook(sessionVariables(server.url, session.id))
    const pending = await onePendingOf(server, session.id)
    expect(pending).toMatchObject({
      message: 'Close the ticket?',
      serverName: 'tickets',
      requestedSchema: confirmSchema,
    })
    await respond(server, pending.requestId, answer)
    expect(await called.exited).toBe(0)
    expect(output(called)).toEqual({ hookEventName: 'Elicitation', ...printed })
  })

  it('prints no content for a url, and a cancel for what expired', async () => {
    const key = await boundKey(server, session.id)
    using visit = hook(
      { PATH: process.env.PATH!, HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: key },
      { mode: 'url', url: 'https://id.example.org/x' },
    )
    await respond(server, (await onePendingOf(server, session.id)).requestId, { action_type: 'accept' })
    expect(await visit.exited).toBe(0)
    expect(output(visit)).toEqual({ hookEventName: 'Elicitation', action: 'accept' })

    using late = hook(sessionVariables(server.url, session.id))
    const { requestId } = await onePendingOf(server, session.id)
    skewMs = 2 * 3_600_000
    await server.rest('GET', `/api/v1/elicitations/${requestId}?wait=0`)
    expect(await late.exited).toBe(0)
    expect(output(late)).toEqual({ hookEventName: 'Elicitation', action: 'cancel' })
  })

  it('polls on through a restart', async () => {
    await using line = await openLine(server.url)
    using called = hook(sessionVariables(line.url, session.id))
    const { requestId } = await onePendingOf(server, session.id)
    line.cut()
    await respond(server, requestId, { action_type: 'accept', content: { confirm: false } })
    line.lead(server.url)
    expect(await called.exited).toBe(0)
    expect(output(called)).toEqual({
      hookEventName: 'Elicitation',
      action: 'accept',
      content: { confirm: false },
    })
  })

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'takes the question back on %s, and decides nothing',
    async (signal) => {
      using called = hook(sessionVariables(server.url, session.id))
      const { requestId } = await onePendingOf(server, session.id)
      called.process.kill(signal)
      expect(await called.exited).toBe(1)
      expect(called.lines).toEqual([])
      expect(await endOf(server, requestId)).toEqual({ status: 'CANCEL', cause: 'WITHDRAWN' })
    },
  )

  it('ends on a signal also while it is told what to ask', async () => {
    using called = spawnCli(['hook', 'claude-code'], sessionVariables(server.url, session.id))
    called.process.stdin.write('{"hook_event')
    // It listens for signals from the moment that it reads, which is when the pipe has been drained.
    await expect.poll(() => called.process.stdin.writableLength).toBe(0)
    await expect
      .poll(
        () => {
          called.process.kill('SIGTERM')
          return called.process.exitCode ?? called.process.signalCode
        },
        { timeout: patienceMs },
      )
      .not.toBeNull()
    expect(called.lines).toEqual([])
  })

  it.each([
    [
      'an outage that outlasts the deadline',
      { url: 'http://127.0.0.1:1', more: { ELICITATION_TTL_MS: '500' } },
      {},
      /could not be asked.*Nobody has decided/,
    ],
    ['a session that is not there', { session: 'no-such-session' }, {}, /no-such-session/],
    ['no address', { none: true }, {}, /ELICITATION_REQUEST_URL/],
    ['another event', {}, { hook_event_name: 'PreToolUse' }, /Elicitation/],
    ['what is no JSON', {}, '{"hook', /JSON/],
    ['a message over the limit', {}, { message: 'x'.repeat(17 * 1024) }, /16 KiB/],
  ] as [
    string,
    { url?: string; session?: string; none?: boolean; more?: Record<string, string> },
    unknown,
    RegExp,
  ][])(
    'exits with 1 and decides nothing for %s',
    async (_, { url = server.url, session: named = session.id, none, more }, input, said) => {
      using called = hook(none ? { PATH: process.env.PATH! } : sessionVariables(url, named, more), input)
      expect(await called.exited).toBe(1)
      expect(called.lines).toEqual([])
      expect(called.errors.join('\n')).toMatch(said)
      await pendingOf(server, session.id, 0)
    },
  )

  it('never exits with 2, which would be a decline, however wrongly it is called', async () => {
    for (const args of [[], ['claud-code'], ['claude-code', '--verbose', 'more']]) {
      using called = hook({ PATH: process.env.PATH! }, {}, args)
      expect(await called.exited).toBe(1)
    }
    using misspelt = spawnCli(['hok', 'claude-code'], { PATH: process.env.PATH! })
    expect(await misspelt.exited).toBe(64)
  })
})
