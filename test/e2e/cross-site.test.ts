import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { adminKey, startServer, type TestServer } from '../support/server.ts'
import { openBrowser } from './support/browser.ts'
import { ask, createSession, type House, respond } from './support/house.ts'
import { visit } from './support/people.ts'

let server: TestServer
let house: House
let browser: Browser
/** Whatever page is asked for, an empty one: what it does is up to the test. */
const elsewhere = createServer((_, response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Elsewhere</title>'),
)

beforeAll(async () => {
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  ;[server, browser] = await Promise.all([startServer(), openBrowser()])
  house = { url: server.url, adminKey }
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
  elsewhere.closeAllConnections()
  elsewhere.close()
})

interface Target {
  url: string
  requestId: string
  sessionId: string
  /** Of a request whose answer has not been carried away. */
  answeredId: string
}

/** Everything that a page may try; for each try, what it could read of the answer. Runs in the browser. */
async function attack({
  url,
  requestId,
  sessionId,
  answeredId,
}: Target): Promise<Record<string, string | null>> {
  const read: Record<string, string | null> = {}
  const patienceMs = 3_000
  const mutation = `mutation { archiveSession(id: "${sessionId}") { __typename } }`
  const accept = JSON.stringify({ action_type: 'accept' })
  const question = JSON.stringify({
    message: 'From another page',
    _meta: { 'com.pulsemcp/request-id': 'from-elsewhere', 'com.pulsemcp/session-id': sessionId },
  })
  async function tryFetch(name: string, path: string, init: RequestInit): Promise<void> {
    try {
      const response = await fetch(`${url}${path}`, {
        credentials: 'include',
        signal: AbortSignal.timeout(patienceMs),
        ...init,
      })
      // An opaque answer says nothing at all.
      read[name] = response.type === 'opaque' ? null : `${response.status} ${await response.text()}`
    } catch {
      read[name] = null
    }
  }
  const json = { 'content-type': 'application/json' }
  const plain = { 'content-type': 'text/plain' }
  for (const [kind, headers] of Object.entries({ json, plain })) {
    for (const mode of ['cors', 'no-cors'] as const) {
      const how = `${kind}, ${mode}`
      const post = { method: 'POST', mode, headers }
      await tryFetch(`graphql ${how}`, '/graphql', { ...post, body: JSON.stringify({ query: mutation }) })
      await tryFetch(`ask ${how}`, '/api/v1/elicitations', { ...post, body: question })
      await tryFetch(`mcp ${how}`, '/mcp', {
        ...post,
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      })
      await tryFetch(`sign out ${how}`, '/api/v1/sign-out', post)
    }
  }
  await tryFetch('answer', `/api/v1/elicitations/${requestId}/respond`, {
    method: 'PATCH',
    headers: json,
    body: accept,
  })
  await tryFetch('withdraw', `/api/v1/elicitations/${requestId}`, { method: 'DELETE' })
  await tryFetch('poll', `/api/v1/elicitations/${requestId}?wait=0`, {})
  await tryFetch('poll, no-cors', `/api/v1/elicitations/${answeredId}?wait=0`, { mode: 'no-cors' })
  await tryFetch('read', '/graphql?query={viewer{name}}', {})
  await tryFetch('mutate by GET', `/graphql?query=${encodeURIComponent(mutation)}`, {})
  await tryFetch('the page', '/', { headers: { accept: 'text/html' } })
  await tryFetch('the metrics', '/metrics', {})

  read.websocket = await new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    socket.onopen = () => resolve('opened')
    socket.onerror = () => resolve(null)
    setTimeout(() => resolve(null), patienceMs)
  })
  read.stream = await new Promise((resolve) => {
    const source = new EventSource(`${url}/graphql?query=subscription{timeline(after:"0"){type}}`, {
      withCredentials: true,
    })
    source.addEventListener('next', ({ data }) => resolve(data))
    source.onopen = () => resolve('opened')
    source.onerror = () => resolve(null)
    setTimeout(() => resolve(null), patienceMs)
  })

  /** Into a frame of this page, where what came of it can be read only if it is this page's own. */
  async function tryFrame(name: string, fill: (frame: HTMLIFrameElement) => void): Promise<void> {
    const frame = document.createElement('iframe')
    frame.name = `frame-${name}`
    const loaded = new Promise((resolve) => {
      frame.onload = resolve
      setTimeout(resolve, patienceMs)
    })
    document.body.append(frame)
    fill(frame)
    await loaded
    try {
      const text = frame.contentDocument?.body?.textContent ?? ''
      read[name] = text === '' ? null : text
    } catch {
      read[name] = null
    }
  }
  await tryFrame('framed page', (frame) => {
    frame.src = `${url}/`
  })
  for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    for (const [path, name, value] of [
      ['/graphql', 'query', mutation],
      // As text/plain this is a JSON document.
      ['/graphql', `{"query":${JSON.stringify(mutation)},"x":"`, '"}'],
      ['/api/v1/elicitations', question.replace(/}$/, ',"x":"'), '"}'],
      ['/api/v1/sign-out', 'a', 'b'],
    ] as const)
      await tryFrame(`form ${enctype} ${path} ${name.slice(0, 8)}`, (frame) => {
        const form = document.createElement('form')
        Object.assign(form, { method: 'post', action: `${url}${path}`, enctype, target: frame.name })
        const field = document.createElement('input')
        Object.assign(field, { name, value })
        form.append(field)
        document.body.append(form)
        form.submit()
      })
  return read
}

async function signedInPage(): Promise<Page> {
  const { page } = await visit(browser, house, '/')
  return page
}

const eventsSoFar = async (): Promise<number> =>
  (await server.graphql('{ auditLog { totalCount } }')).auditLog.totalCount

describe.each([
  ['another port of the same address', '127.0.0.1', '127.0.0.1'],
  ['another name of the same machine', 'localhost', '127.0.0.1'],
  ['the same other name', 'localhost', 'localhost'],
])('a page on %s', (_, itsName, ourName) => {
  it('changes nothing and reads nothing, though the browser is signed in', { timeout: 120_000 }, async () => {
    const session = await createSession(house, 'Under attack')
    const requestId = await ask(house, session)
    const answeredId = await ask(house, session)
    await respond(house, answeredId, 'accept')
    const page = await signedInPage()
    const before = await eventsSoFar()

    const { port } = elsewhere.address() as AddressInfo
    const attacker = await page.context().newPage()
    await attacker.goto(`http://${itsName}:${port}/`)
    const url = `http://${ourName}:${new URL(server.url).port}`
    const read = await attacker.evaluate(attack, { url, requestId, sessionId: session.id, answeredId })
    await attacker.close()

    expect(Object.keys(read).length).toBeGreaterThan(35)
    expect(Object.entries(read).filter(([, text]) => text !== null)).toEqual([])
    expect(await eventsSoFar()).toBe(before)
    const { elicitation } = await server.graphql(
      'query($r: String!) { elicitation(requestId: $r) { status session { status } } }',
      { r: requestId },
    )
    expect(elicitation).toEqual({ status: 'PENDING', session: { status: 'NEEDS_INPUT' } })
    // The person is still signed in, and their own page works.
    const viewer = await page.evaluate(async () => {
      const response = await fetch('/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query":"{ viewer { name } }"}',
      })
      return (await response.json()).data.viewer.name
    })
    expect(viewer).toBe('admin')
    await page.context().close()
  })
})

it('a page of the server itself can do all of that: what is refused elsewhere is not just broken', async () => {
  const session = await createSession(house, 'At home')
  const requestId = await ask(house, session)
  const page = await signedInPage()
  const statuses = await page.evaluate(async (id) => {
    const answered = await fetch(`/api/v1/elicitations/${id}/respond`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: '{"action_type":"decline"}',
    })
    const opened = await new Promise((resolve) => {
      const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
      socket.onopen = () => resolve('opened')
      socket.onerror = () => resolve('refused')
    })
    return [answered.status, opened]
  }, requestId)
  expect(statuses).toEqual([200, 'opened'])
  await page.context().close()
})
