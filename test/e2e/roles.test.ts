import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { openBrowser } from './support/browser.ts'
import { ask, createKey, createSession, type House, type Session } from './support/house.ts'
import { go, visit } from './support/people.ts'

let server: TestServer
let browser: Browser
let house: House
let session: Session
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startServer(), openBrowser()])
  house = { url: server.url, adminKey: server.config.adminKey! }
  session = await createSession(house, 'Seen by all')
  await ask(house, session, {
    requestedSchema: { type: 'object', properties: { reason: { type: 'string', title: 'Reason' } } },
  })
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

it.each([
  ['VIEWER', { answers: false, launches: false, administers: false }],
  ['RESPONDER', { answers: true, launches: false, administers: false }],
  ['LAUNCHER', { answers: false, launches: true, administers: false }],
  ['OPERATOR', { answers: true, launches: true, administers: false }],
  ['ADMIN', { answers: true, launches: true, administers: true }],
])(
  'a %s sees everything and is offered only what the role may do',
  async (role, { answers, launches, administers }) => {
    const { secret } = await createKey(house, `A ${role.toLowerCase()}`, role)
    const { page, context, complaints } = await visit(browser, house, `/sessions/${session.id}`, {
      key: secret,
    })
    const request = page.getByRole('region', { name: 'Approval request' })
    await request.getByText('Delete the tenant acme?').waitFor()
    expect(await request.getByRole('button', { name: /Accept|Decline|Dismiss/ }).count()).toBe(
      answers ? 3 : 0,
    )
    expect(await request.getByRole('textbox').count()).toBe(answers ? 1 : 0)
    expect(await request.getByText('you can follow this request, not answer it').count()).toBe(
      answers ? 0 : 1,
    )
    expect(await page.getByRole('button', { name: /Pause|Archive/ }).count()).toBe(launches ? 2 : 0)
    expect(await page.getByRole('link', { name: 'Keys' }).count()).toBe(administers ? 1 : 0)
    await page.getByText(`Signed in as A ${role.toLowerCase()} (${role.toLowerCase()})`).waitFor()

    await go(page, '/gate')
    await page.getByText('ELICITATION_TTL_MS', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Check now' }).count()).toBe(launches ? 1 : 0)
    await go(page, '/keys')
    await page.getByRole('heading', { name: administers ? 'Existing keys' : 'Keys are for admins' }).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  },
)
