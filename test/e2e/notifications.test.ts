import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { openBrowser } from './support/browser.ts'
import { ask, createSession, type House, respond } from './support/house.ts'
import { visit } from './support/people.ts'

let server: TestServer
let browser: Browser
let house: House
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startServer(), openBrowser()])
  house = { url: server.url, adminKey: server.config.adminKey! }
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

type Stage = { asked: number; shown: { title: string; tag: string }[]; hidden: boolean }

/** A browser without a screen grants no notifications: this one is made to ask, to agree, and to show them in a list. */
async function withNotifications(page: Page) {
  await page.addInitScript(() => {
    const stage: Stage = { asked: 0, shown: [], hidden: false }
    let permission = 'default'
    Object.assign(window, { stage })
    Object.defineProperty(Notification, 'permission', { get: () => permission })
    Notification.requestPermission = async () => {
      stage.asked++
      permission = 'granted'
      return 'granted'
    }
    Object.defineProperty(document, 'visibilityState', { get: () => (stage.hidden ? 'hidden' : 'visible') })
    Object.assign(ServiceWorkerRegistration.prototype, {
      async showNotification(title: string, { tag }: { tag: string }) {
        stage.shown = [...stage.shown.filter((each) => each.tag !== tag), { title, tag }]
      },
      async getNotifications({ tag }: { tag: string }) {
        return stage.shown
          .filter((each) => each.tag === tag)
          .map((each) => ({
            close() {
              stage.shown = stage.shown.filter((other) => other !== each)
            },
          }))
      },
    })
  })
}

const stageOf = (page: Page) => page.evaluate(() => (window as unknown as { stage: Stage }).stage)

it('nobody is asked for notifications before they ask for them', async () => {
  const { page, context } = await visit(browser, house, '/', { prepare: withNotifications })
  await page.getByText('Notifications are off').waitFor()
  expect((await stageOf(page)).asked).toBe(0)
  expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0)
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('Notifications are on').waitFor()
  expect((await stageOf(page)).asked).toBe(1)
  await page.getByRole('button', { name: 'Turn off' }).click()
  await page.getByText('Notifications are off').waitFor()
  await context.close()
})

it('a page that nobody looks at tells of a request once, and takes it back when that is over', async () => {
  const session = await createSession(house, 'Clean up')
  const { page, context } = await visit(browser, house, '/', { prepare: withNotifications })
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('Notifications are on').waitFor()
  const seen = await ask(house, session, { tool: 'seen' })
  await page.getByRole('heading', { name: 'seen' }).waitFor()
  await respond(house, seen, 'decline')
  await page.getByRole('heading', { name: 'Declined' }).waitFor()
  expect((await stageOf(page)).shown).toEqual([])

  await page.evaluate(() => {
    ;(window as unknown as { stage: Stage }).stage.hidden = true
  })
  const requestId = await ask(house, session, {
    message: `token=abcdefghijklmnopqrstuvwxyz ${'x'.repeat(500)}`,
  })
  await expect
    .poll(async () => (await stageOf(page)).shown.map(({ title }) => title), { timeout: 15_000 })
    .toEqual(['Approval request: Clean up'])
  await respond(house, requestId, 'decline')
  await expect.poll(async () => (await stageOf(page)).shown, { timeout: 15_000 }).toEqual([])
  await context.close()
})
