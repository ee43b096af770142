import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isRefusal } from '../../src/base/refusal.ts'
import { sql } from '../../src/database/sql.ts'
import { systemActor } from '../../src/events/event.ts'
import { createGate, type Gate, type Page } from '../../src/gate/status.ts'
import { findGateToken } from '../../src/gate/token.ts'
import { commandSession } from '../../src/session/commands.ts'
import { registerProcess } from '../../src/session/process.ts'
import { openDomain, runner, type TestDomain } from '../support/domain.ts'
import { freePort } from '../support/server.ts'

let domain: TestDomain
let port: number
/** What was logged and paged by all servers together. */
let warnings: string[]
let infos: string[]
let pages: Page[]
let pager: (page: Page) => Promise<boolean>

beforeAll(async () => {
  domain = await openDomain()
})
beforeEach(async () => {
  await domain.clear()
  port = await freePort()
  warnings = []
  infos = []
  pages = []
  pager = async (page) => pages.push(page) > 0
})
afterAll(() => domain[Symbol.asyncDispose]())

/** The gate as one server process has it. */
function openGate(): Gate {
  return createGate({
    journal: domain.journal,
    publicUrl: `http://127.0.0.1:${port}`,
    access: 'open',
    page: (page) => pager(page),
    log: {
      info: (_: object, text: string) => infos.push(text),
      warn: (_: object, text: string) => warnings.push(text),
    } as never,
  })
}

/** Somebody at home at the gate's address; leaves when it is disposed of. */
async function answerAt(): Promise<AsyncDisposable> {
  const server = createServer((_, response) => response.writeHead(404).end())
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const pass = (minutes: number) => {
  domain.clock.now = new Date(domain.clock.now.getTime() + minutes * 60_000)
}

const gateEvents = () =>
  domain.database.query<{ type: string; actorKind: string; data: Record<string, unknown> }>(
    sql`select type, actor_kind, data from event where type like 'gate.%' or type like 'notification.%' order by cursor`,
  )

describe('the status of the gate', () => {
  it('is unknown before the first probe, and that is not broken', async () => {
    expect(await openGate().status()).toEqual({
      url: `http://127.0.0.1:${port}/api/v1/elicitations`,
      access: 'open',
      reachable: null,
      detail: "not checked from the agents' host",
      checkedAt: null,
      incident: null,
      hosts: [],
    })
  })

  it('is what the last probe found, on every server, for half an hour', async () => {
    await using _ = await answerAt()
    await openGate().probe()
    const other = openGate()
    const checkedAt = domain.clock.now
    pass(30)
    expect(await other.status()).toMatchObject({
      reachable: true,
      checkedAt,
      detail: expect.stringContaining('HTTP 404'),
    })
    domain.clock.now = new Date(domain.clock.now.getTime() + 1)
    expect(await other.status()).toMatchObject({ reachable: null, checkedAt })
  })

  it('does not let a late result undo a newer one', async () => {
    const gate = openGate()
    const now = domain.clock.now
    await gate.probe()
    domain.clock.now = new Date(now.getTime() - 1_000)
    await using _ = await answerAt()
    await gate.probe()
    expect(await gate.status()).toMatchObject({
      reachable: false,
      checkedAt: now,
      incident: { closedAt: null },
    })
  })
})

describe('an incident', () => {
  it('opens on the first failing probe, warns on each, is paged once with two servers, and closes on recovery', async () => {
    const gates = [openGate(), openGate()]
    await Promise.all(gates.map((gate) => gate.probe()))
    pass(5)
    await Promise.all(gates.map((gate) => gate.probe()))
    const openedAt = new Date(domain.clock.now.getTime() - 5 * 60_000)

    expect(warnings).toHaveLength(4)
    expect(pages).toEqual([
      {
        type: 'gate.unreachable',
        text: expect.stringContaining('connection refused'),
        url: `http://127.0.0.1:${port}/api/v1/elicitations`,
        detail: 'connection refused (ECONNREFUSED)',
        checkedAt: openedAt,
      },
    ])
    expect(await gates[0]!.status()).toMatchObject({
      reachable: false,
      incident: { openedAt, closedAt: null, pagedAt: openedAt, detail: 'connection refused (ECONNREFUSED)' },
    })

    await using _ = await answerAt()
    pass(5)
    await Promise.all(gates.map((gate) => gate.probe()))
    expect(await gates[1]!.status()).toMatchObject({
      reachable: true,
      incident: { openedAt, closedAt: domain.clock.now },
    })
    expect(infos).toEqual(['the gate can be reached again'])
    expect(pages).toHaveLength(1)
    expect((await gateEvents()).map(({ type, actorKind }) => [type, actorKind])).toEqual([
      ['gate.unreachable', 'system'],
      ['notification.sent', 'system'],
      ['gate.recovered', 'system'],
    ])
  })

  it('is another one the next time', async () => {
    const gate = openGate()
    await gate.probe()
    const back = await answerAt()
    pass(5)
    await gate.probe()
    await back[Symbol.asyncDispose]()
    pass(5)
    await gate.probe()
    expect(pages).toHaveLength(2)
    expect((await gateEvents()).map(({ type }) => type).filter((type) => type.startsWith('gate'))).toEqual([
      'gate.unreachable',
      'gate.recovered',
      'gate.unreachable',
    ])
  })

  it('is paged by the next probe when the page could not be delivered', async () => {
    const gate = openGate()
    pager = () => Promise.reject(new Error('the network is down'))
    expect(await gate.probe()).toMatchObject({ incident: { pagedAt: null } })
    expect(warnings).toContain('nobody could be paged about the gate; the next probe tries again')
    pager = async (page) => pages.push(page) > 0
    pass(5)
    expect(await gate.probe()).toMatchObject({ incident: { pagedAt: domain.clock.now } })
    expect(pages).toHaveLength(1)
  })

  it('is paged by another server when the one that was about to died', async () => {
    const dying = openGate()
    const paging = Promise.withResolvers<void>()
    pager = () => {
      paging.resolve()
      return new Promise(() => {})
    }
    void dying.probe()
    await paging.promise
    pager = async (page) => pages.push(page) > 0
    await openGate().probe()
    expect(pages).toHaveLength(0)
    pass(5)
    await openGate().probe()
    expect(pages).toHaveLength(1)
  })

  it("is nobody's page where nobody is to be paged", async () => {
    pager = async () => false
    expect(await openGate().probe()).toMatchObject({ incident: { pagedAt: null } })
  })
})

describe('a report from the host of an agent', () => {
  const report = {
    host: 'build-7',
    url: 'http://gate.example/api/v1/elicitations',
    reachable: true,
    detail: 'HTTP 404',
  }

  it('is listed for its host, and on the timeline when it says something new', async () => {
    const gate = openGate()
    const { id } = await domain.session()
    await gate.report(id, report, runner)
    pass(1)
    await gate.report(id, report, runner)
    await gate.report(id, { ...report, reachable: false, detail: 'connection refused' }, runner)
    expect((await gate.status()).hosts).toEqual([
      { host: 'build-7', reachable: false, detail: 'connection refused', checkedAt: domain.clock.now },
    ])
    expect((await gateEvents()).map(({ type, data }) => [type, data.reachable])).toEqual([
      ['gate.reported', true],
      ['gate.reported', false],
    ])
  })

  it('is unknown after half an hour and forgotten after a day', async () => {
    const gate = openGate()
    const { id } = await domain.session()
    await gate.report(id, report, runner)
    pass(31)
    expect((await gate.status()).hosts).toMatchObject([{ reachable: null, detail: 'HTTP 404' }])
    pass(24 * 60)
    expect((await gate.status()).hosts).toEqual([])
  })

  it('never keeps or shows the token of a capability address', async () => {
    const gate = openGate()
    const { id } = await domain.session()
    await gate.report(id, { ...report, url: 'http://gate.example/api/v1/gate/s3cr3t/elicitations' }, runner)
    const kept = [await gateEvents(), await domain.database.query(sql`select * from gate_report`)]
    expect(JSON.stringify(kept)).not.toContain('s3cr3t')
  })

  it('makes what a stranger hid in it visible', async () => {
    const gate = openGate()
    const { id } = await domain.session()
    await gate.report(id, { ...report, detail: 'fine\u202e' }, runner)
    expect((await gate.status()).hosts[0]!.detail).toBe('fine⟨U+202E⟩')
  })
})

describe('what an agent is told of the gate', () => {
  const on = (host: string) => ({ host, pid: 7, command: null, startedAt: domain.clock.now })
  const url = 'http://gate.example/api/v1/elicitations'

  it('is the fresh report of its own host, in both directions', async () => {
    const gate = openGate()
    const here = (await domain.session()).id
    const there = (await domain.session()).id
    await registerProcess(domain.journal, here, on('build-7'), runner)
    await registerProcess(domain.journal, there, on('build-8'), runner)
    await gate.probe()
    await gate.report(here, { host: 'build-7', url, reachable: true, detail: 'HTTP 404' }, runner)
    expect(await gate.knowledgeFor(here)).toMatchObject({ status: 'healthy', host: 'build-7', url })
    expect(await gate.knowledgeFor(there)).toMatchObject({ status: 'unreachable', host: null })

    await using _ = await answerAt()
    await gate.probe()
    await gate.report(there, { host: 'build-8', url, reachable: false, detail: 'no route' }, runner)
    expect(await gate.knowledgeFor(there)).toMatchObject({
      status: 'unreachable',
      host: 'build-8',
      detail: 'no route',
    })
  })

  it("falls back to the server's probe when the host's report is old, and to unknown when both are", async () => {
    const gate = openGate()
    const { id } = await domain.session()
    await registerProcess(domain.journal, id, on('build-7'), runner)
    expect(await gate.knowledgeFor(id)).toMatchObject({ status: 'unknown', checkedAt: null })
    await gate.report(id, { host: 'build-7', url, reachable: true, detail: null }, runner)
    pass(20)
    await gate.probe()
    pass(20)
    expect(await gate.knowledgeFor(id)).toMatchObject({ status: 'unreachable', host: null })
    pass(20)
    expect(await gate.knowledgeFor(id)).toMatchObject({ status: 'unknown' })
  })
})

describe('the rotation of a capability address', () => {
  const tokenOf = (url: string) => /\/gate\/([^/]+)\/elicitations$/.exec(url)![1]!

  it('ends the living ones and hands out a new one', async () => {
    const gate = openGate()
    const { id } = await domain.session()
    const first = await gate.rotateToken(id, systemActor)
    const second = await gate.rotateToken(id, systemActor)
    if (isRefusal(first) || isRefusal(second)) throw new Error('refused')
    expect(second.url).toMatch(new RegExp(`^http://127.0.0.1:${port}/api/v1/gate/[\\w-]{32}/elicitations$`))
    expect(await findGateToken(domain.database, tokenOf(first.url))).toMatchObject({
      sessionId: id,
      endedAt: domain.clock.now,
    })
    expect(await findGateToken(domain.database, tokenOf(second.url))).toMatchObject({
      sessionId: id,
      endedAt: null,
    })
    expect((await gateEvents()).map(({ type }) => type)).toEqual([
      'gate.token_created',
      'gate.token_ended',
      'gate.token_created',
    ])
    expect(JSON.stringify(await gateEvents())).not.toContain(tokenOf(second.url))
  })

  it('is refused for an archived session and for one that does not exist', async () => {
    const gate = openGate()
    const { id } = await domain.session()
    await commandSession(domain.journal, id, 'archive', systemActor)
    expect(await gate.rotateToken(id, systemActor)).toMatchObject({ code: 'INVALID_TRANSITION' })
    expect(await gate.rotateToken('01900000-0000-7000-8000-00000000dead', systemActor)).toMatchObject({
      code: 'NOT_FOUND',
    })
  })
})
