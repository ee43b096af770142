import type { Browser, Page, WebSocketRoute } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { freePort, startServer, type TestServer } from '../support/server.ts'
import { openBrowser } from './support/browser.ts'
import {
  ask,
  clearQueue,
  createKey,
  createSession,
  type House,
  poll,
  respond,
  revokeKey,
} from './support/house.ts'
import { visit } from './support/people.ts'

const clock = { aheadMs: 0 }
let database: TestDatabase
let server: TestServer
let browser: Browser
let house: House
let port: number
const start = () =>
  startServer({
    connectionString: database.connectionString,
    now: () => new Date(Date.now() + clock.aheadMs),
    environment: { PORT: String(port) },
  })
beforeAll(async () => {
  ;[database, browser, port] = await Promise.all([createTestDatabase(), openBrowser(), freePort()])
  server = await start()
  house = { url: `http://127.0.0.1:${port}`, adminKey: server.config.adminKey! }
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
  await database?.drop()
})

afterEach(() => clearQueue(house))

const reasonSchema = { type: 'object', properties: { reason: { type: 'string', title: 'Reason' } } }

/** The wire between a page and the server, to be cut and mended. */
async function wire(page: Page) {
  const sockets = new Set<WebSocketRoute>()
  let cut = false
  await page.routeWebSocket(/\/graphql$/, (socket) => {
    if (cut) return void socket.close({ code: 1012 })
    socket.connectToServer()
    sockets.add(socket)
  })
  return {
    async cut() {
      cut = true
      await page.route('**/graphql', (route) => route.abort())
      for (const socket of sockets) await socket.close({ code: 1012 })
      sockets.clear()
    },
    async mend() {
      cut = false
      await page.unroute('**/graphql')
    },
  }
}

describe('two browsers on one queue', () => {
  it('see the same requests, and what one answers is answered for the other', async () => {
    const session = await createSession(house, 'Shared')
    const [first, second] = await Promise.all([visit(browser, house), visit(browser, house)])
    await Promise.all(
      [first, second].map(({ page }) => page.getByRole('heading', { name: 'Needs you' }).waitFor()),
    )
    const requestId = await ask(house, session, { requestedSchema: reasonSchema })
    const banner = (page: Page) => page.getByRole('region', { name: 'Approval request' })
    await Promise.all([first, second].map(({ page }) => banner(page).waitFor()))

    await banner(second.page).getByLabel('Reason').fill('I was slower')
    await banner(first.page).getByRole('button', { name: 'Decline' }).click()
    await first.page.getByRole('heading', { name: 'Declined' }).waitFor()
    await second.page.getByRole('heading', { name: 'Declined' }).waitFor()
    await second.page.getByText('by admin (the dashboard)').waitFor()
    await second.page.getByText('I was slower', { exact: true }).waitFor()
    await poll(house, requestId, 0)
    for (const { page } of [first, second]) {
      await page.getByText(/^delivered .* later/).waitFor()
      await expect.poll(() => page.title()).toBe('Holdpoint')
    }
    await Promise.all([first.context.close(), second.context.close()])
  })

  it('let one of two simultaneous answers win, and tell the other who won', async () => {
    const session = await createSession(house, 'Race')
    const requestId = await ask(house, session)
    const [first, second] = await Promise.all([
      visit(browser, house, `/sessions/${session.id}`),
      visit(browser, house, `/sessions/${session.id}`, {
        key: (await createKey(house, 'Second', 'RESPONDER')).secret,
      }),
    ])
    const buttons = [
      first.page.getByRole('button', { name: 'Accept' }),
      second.page.getByRole('button', { name: 'Decline' }),
    ]
    for (const button of buttons) await button.click({ trial: true })
    await Promise.all(buttons.map((button) => button.dispatchEvent('click')))
    const { action } = await poll(house, requestId)
    const words = action === 'accept' ? 'Accepted' : 'Declined'
    const winner = action === 'accept' ? 'by admin (the dashboard)' : 'by Second (the dashboard)'
    for (const { page } of [first, second]) {
      await page.getByRole('heading', { name: words }).waitFor()
      await page.getByText(winner).waitFor()
    }
    await Promise.all([first.context.close(), second.context.close()])
  })
})

describe('a connection that is lost', () => {
  it('is said, and once it is back the page shows what was answered and what arrived meanwhile', async () => {
    const session = await createSession(house, 'Away')
    const gone = await ask(house, session, { tool: 'answered_meanwhile' })
    const kept = await ask(house, session, { tool: 'still_there', requestedSchema: reasonSchema })
    let line!: Awaited<ReturnType<typeof wire>>
    const { page, context } = await visit(browser, house, '/', {
      prepare: async (page) => {
        line = await wire(page)
      },
    })
    const banners = page.getByRole('region', { name: 'Approval request' })
    await banners.nth(1).waitFor()
    await page.getByLabel('Reason').fill('a draft')

    await line.cut()
    await page.getByText('Reconnecting…').waitFor()
    await respond(house, gone, 'accept')
    await ask(house, session, { tool: 'arrived_meanwhile' })
    await line.mend()
    await page.getByRole('heading', { name: 'arrived_meanwhile' }).waitFor()
    await page.getByRole('heading', { name: 'Accepted' }).waitFor()
    await page.getByText('Reconnecting…').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Reason').inputValue()).toBe('a draft')
    await expect.poll(() => page.title()).toBe('(1) Holdpoint')

    await respond(house, kept, 'decline')
    await page.getByRole('heading', { name: 'Declined' }).waitFor()
    await context.close()
  })

  it('comes back by itself after a restart of the server, drafts and all', async () => {
    const session = await createSession(house, 'Restart')
    await ask(house, session, { tool: 'before_restart', requestedSchema: reasonSchema })
    const { page, context } = await visit(browser, house)
    await page.getByLabel('Reason').fill('typed before')
    await server[Symbol.asyncDispose]()
    await page.getByText('Reconnecting…').waitFor()
    server = await start()
    await page.getByText('Reconnecting…').waitFor({ state: 'detached' })
    const requestId = await ask(house, session, { tool: 'after_restart' })
    await page.getByRole('heading', { name: 'after_restart' }).waitFor()
    expect(await page.getByLabel('Reason').inputValue()).toBe('typed before')
    await page
      .getByRole('region', { name: 'Approval request' })
      .filter({ hasText: 'after_restart' })
      .getByRole('button', { name: 'Accept' })
      .click()
    await page.getByRole('heading', { name: 'Accepted' }).waitFor()
    expect(await poll(house, requestId, 0)).toMatchObject({ action: 'accept' })
    await context.close()
  })

  it('asks to sign in again when the key is revoked under the open page, and keeps the draft', async () => {
    const key = await createKey(house, 'Short-lived', 'RESPONDER')
    const other = await createKey(house, 'Successor', 'RESPONDER')
    const session = await createSession(house, 'Revoked')
    await ask(house, session, { requestedSchema: reasonSchema })
    const { page, context } = await visit(browser, house, `/sessions/${session.id}`, { key: key.secret })
    await page.getByLabel('Reason').fill('kept for later')
    await revokeKey(house, key.id)
    await page.getByText('You were signed out, or the key has ended.').waitFor()
    await page.getByLabel('Key', { exact: true }).fill(other.secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByLabel('Reason').inputValue()).toBe('kept for later')
    expect(new URL(page.url()).pathname).toBe(`/sessions/${session.id}`)
    await context.close()
  })

  it('waits for a server that is not there yet', async () => {
    const { page, context } = await visit(browser, house, '/', {
      prepare: async (page) => {
        await page.route('**/graphql', (route) => route.abort())
      },
    })
    await page.getByRole('heading', { name: 'Holdpoint cannot be reached' }).waitFor()
    await page.unroute('**/graphql')
    await page.getByRole('heading', { name: 'Needs you' }).waitFor()
    await context.close()
  })
})

describe('a lost request', () => {
  it('shows that nobody answered in time, and goes when the agent asks again', async () => {
    const session = await createSession(house, 'Lost')
    const { page, context } = await visit(browser, house, `/sessions/${session.id}`)
    const expired = await ask(house, session, { message: 'Rotate the key?', tool: 'rotate_key' })
    await page.getByRole('region', { name: 'Approval request' }).waitFor()
    clock.aheadMs += 2 * 60 * 60_000
    expect((await poll(house, expired, 0)).action).toBe('expired')
    const lost = page.getByRole('alert').filter({ hasText: 'Approval request expired' })
    await lost
      .getByText(
        'nobody answered before it timed out; the MCP server was told expired and the agent continued without approval',
      )
      .waitFor()
    await lost.getByText('rotate_key: Rotate the key?').waitFor()
    expect(await lost.locator('time').getAttribute('datetime')).toMatch(/^\d{4}-\d\d-\d\dT/)

    await ask(house, session, { tool: 'again' })
    await page.getByRole('heading', { name: 'again' }).waitFor()
    await lost.waitFor({ state: 'detached' })
    await context.close()
  })
})
