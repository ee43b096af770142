import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { openBrowser } from './support/browser.ts'
import { ask, createKey, createSession, type House, poll } from './support/house.ts'
import { visit } from './support/people.ts'

let server: TestServer
let browser: Browser
let house: House
beforeAll(async () => {
  ;[server, browser] = await Promise.all([
    startServer({ environment: { HOLDPOINT_TRUST_PROXY: '127.0.0.1' } }),
    openBrowser(),
  ])
  house = { url: server.url, adminKey: server.config.adminKey! }
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

const flooder = '203.0.113.9'

it('a flood from one address is dismissed in one go, and what others ask stays', async () => {
  const session = await createSession(house, 'Flooded')
  const own = await ask(house, session, { tool: 'rotate_key', from: '192.0.2.1' })
  const flood: string[] = []
  for (let i = 0; i < 12; i++) flood.push(await ask(house, session, { tool: `spam_${i}`, from: flooder }))
  const { page, context, complaints } = await visit(browser, house, `/sessions/${session.id}`)
  const requests = page.getByRole('region', { name: /^Approval request/ })
  await requests.nth(12).waitFor()
  expect(await page.getByText(`asks from ${flooder}`).count()).toBe(12)

  await page.getByRole('button', { name: `Dismiss all 12 from ${flooder}` }).click()
  await page.getByText('The others stay.').waitFor()
  await page.getByRole('button', { name: 'Keep them' }).click()
  expect(await requests.count()).toBe(13)
  await page.getByRole('button', { name: `Dismiss all 12 from ${flooder}` }).click()
  await page.getByRole('button', { name: 'Dismiss them all' }).click()

  await expect.poll(() => requests.count()).toBe(1)
  await requests.getByRole('heading', { name: 'rotate_key' }).waitFor()
  await page.getByRole('heading', { name: 'Dismissed' }).nth(11).waitFor()
  for (const requestId of flood) expect((await poll(house, requestId, 0)).action).toBe('cancel')
  expect((await poll(house, own, 0)).action).toBe('pending')
  expect(await page.getByRole('button', { name: /^Dismiss all/ }).count()).toBe(0)
  await page.getByRole('button', { name: 'Clear the 12 that are done' }).click()
  await page.getByRole('heading', { name: 'Dismissed' }).first().waitFor({ state: 'detached' })
  await requests.getByRole('heading', { name: 'rotate_key' }).waitFor()
  expect(complaints).toEqual([])
  await context.close()
})

it('is offered to nobody who may not answer', async () => {
  const session = await createSession(house, 'Flooded too')
  for (let i = 0; i < 3; i++) await ask(house, session, { from: flooder })
  const { secret } = await createKey(house, 'A viewer', 'VIEWER')
  const { page, context } = await visit(browser, house, `/sessions/${session.id}`, { key: secret })
  await page.getByText(`asks from ${flooder}`).nth(2).waitFor()
  expect(await page.getByRole('button', { name: /^Dismiss/ }).count()).toBe(0)
  await context.close()
})
