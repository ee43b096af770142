import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { openBrowser } from './support/browser.ts'
import type { House } from './support/house.ts'
import { visit } from './support/people.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })
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

it('nobody is asked for notifications before they ask for them', async () => {
  const { page, context, complaints } = await visit(browser, house, '/', {
    prepare: async (page) => {
      await page.addInitScript(() => {
        const asked = { count: 0 }
        Object.assign(window, { asked })
        Notification.requestPermission = () => {
          asked.count++
          return Promise.resolve('default')
        }
      })
    },
  })
  await page.getByText('Notifications are off').waitFor()
  expect(await page.evaluate(() => (window as unknown as { asked: { count: number } }).asked.count)).toBe(0)
  expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0)
  await page.getByRole('button', { name: 'Turn on' }).click()
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { asked: { count: number } }).asked.count))
    .toBe(1)
  expect(complaints).toEqual([])
  await context.close()
})

it('a push shows one notification for a request, and takes it back when that is over', async () => {
  const { page, context } = await visit(browser, house, '/')
  await context.grantPermissions(['notifications'], { origin: house.url })
  await page.reload()
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('Notifications are on').waitFor()
  const push = await pusher(page, house.url)
  const message = {
    tag: 'request-1',
    title: 'Approval request: Clean up',
    body: 'delete_tenant: Delete acme?',
    url: '/sessions/1',
  }
  await push({ kind: 'pending', ...message })
  await push({ kind: 'pending', ...message })
  await expect.poll(() => shown(page), { timeout: 10_000 }).toEqual(['Approval request: Clean up'])
  await push({ kind: 'resolved', ...message, title: 'Declined: Clean up' })
  await expect.poll(() => shown(page), { timeout: 10_000 }).toEqual([])
  await page.getByRole('button', { name: 'Turn off' }).click()
  await page.getByText('Notifications are off').waitFor()
  await context.close()
})

function shown(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready
    return (await registration.getNotifications()).map(({ title }) => title)
  })
}

/** Hands messages to the service worker as the browser's push service would. */
async function pusher(page: Page, origin: string) {
  const session: CDPSession = await page.context().newCDPSession(page)
  const registrationId = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      if (registrations[0]) resolve(registrations[0].registrationId)
    })
  })
  await session.send('ServiceWorker.enable')
  const id = await registrationId
  return (message: object) =>
    session.send('ServiceWorker.deliverPushMessage', {
      origin,
      registrationId: id,
      data: JSON.stringify(message),
    })
}
