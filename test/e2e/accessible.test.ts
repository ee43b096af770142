import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { openBrowser, phone } from './support/browser.ts'
import { everyField } from './support/every-field.ts'
import {
  ask,
  command,
  confirmSchema,
  createKey,
  createSession,
  type House,
  poll,
  respond,
  type Session,
} from './support/house.ts'
import { go, visit, visitSignedOut } from './support/people.ts'

// axe reads every state of a page in both schemes: the longest of these take half a minute where others use the machine too.
vi.setConfig({ testTimeout: 90_000 })

const clock = { aheadMs: 0 }
let server: TestServer
let browser: Browser
let house: House
let busy: Session
let forms: Session
let lost: Session
let failed: Session
beforeAll(async () => {
  ;[server, browser] = await Promise.all([
    startServer({ now: () => new Date(Date.now() + clock.aheadMs) }),
    openBrowser(),
  ])
  house = { url: server.url, adminKey: server.config.adminKey! }
  lost = await createSession(house, 'Lost something')
  const expired = await ask(house, lost)
  clock.aheadMs = 2 * 60 * 60_000
  await poll(house, expired, 0)
  busy = await createSession(house, 'Busy')
  forms = await createSession(house, 'Every kind of field')
  failed = await createSession(house, 'Failed')
  await command(house, 'failSession', failed.id, ', reason: "exited with code 1"')
  const paused = await createSession(house, 'Paused')
  await command(house, 'pauseSession', paused.id)
  await createSession(house, 'Waiting', { start: false })
  await respond(house, await ask(house, busy, { requestedSchema: confirmSchema }), 'accept', {
    content: { confirm: false },
  })
  await respond(house, await ask(house, busy), 'decline', { note: 'Not today.' })
  const long = Array.from({ length: 200 }, (_, index) => `line ${index + 1}`).join('\n')
  await ask(house, busy, { message: long, requestedSchema: confirmSchema, context: 'Some context.' })
  await ask(house, busy, { url: 'http://bank.example@xn--pple-43d.example:8443/connect' })
  await ask(house, forms, { requestedSchema: everyField })
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

/** What axe reports of the page as it is, in light and in dark. */
async function violations(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    // Without the motion, in which colours are on their way from one scheme to the other.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
    // Once in the page, axe stays there: half a megabyte handed over again takes longer than the look itself.
    const isThere = await page.evaluate(() => 'axe' in window)
    const axe = new AxeBuilder({ page, ...(isThere && { axeSource: 'void 0' }) })
    const { violations } = await axe
      // Without a second page to gather the findings of frames, of which there are none.
      .setLegacyMode()
      // Every rule is checked; what it found right is not described.
      .options({ resultTypes: ['violations'] })
      .analyze()
    for (const { id, nodes } of violations)
      found.push(
        `${id} in ${colorScheme}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).join(' | ')}`,
      )
  }
  return found
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name }).first().waitFor()

/** A phone, and what axe found there by the states that were looked at. */
async function lookAround(path: string) {
  const { page, context } = await visit(browser, house, path, { viewport: phone })
  const found: Record<string, string[]> = {}
  return {
    page,
    found,
    async look(state: string) {
      const list = await violations(page)
      if (list.length > 0) found[state] = list
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

describe('in light and in dark', () => {
  it('no state of a form has anything for axe to report', async () => {
    await using around = await lookAround('/')
    const { page, look, found } = around
    await page.getByRole('region', { name: 'Approval request' }).first().waitFor()
    await page.getByRole('heading', { name: 'Running' }).waitFor()
    await look('home')

    await go(page, `/sessions/${forms.id}`)
    await page.getByRole('combobox', { name: 'Country' }).waitFor()
    await look('form')
    await page.getByLabel('Replicas').fill('nine')
    await page.getByRole('button', { name: 'Add a note' }).click()
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByText('need another look').waitFor()
    await look('form with errors')
    await page.getByRole('combobox', { name: 'Country' }).click()
    await page.getByRole('option', { name: 'Country 1', exact: true }).waitFor()
    await look('form with an open list')
    expect(found).toEqual({})
  })

  it('neither has any state of a session', async () => {
    await using around = await lookAround(`/sessions/${busy.id}`)
    const { page, look, found } = around
    await page.getByText('Look twice before you open it').waitFor()
    await page.getByRole('button', { name: 'Archive' }).click()
    await page.getByRole('button', { name: 'Archive session' }).waitFor()
    await look('session with requests and a question')
    const requestId = await ask(house, busy, { tool: 'soon_over' })
    await heading(page, 'soon_over')
    await respond(house, requestId, 'decline', { note: 'No.' })
    await heading(page, 'Declined')
    await page.getByText(/^recorded, nobody was waiting/).waitFor()
    await look('session with an outcome')

    await go(page, `/sessions/${lost.id}`)
    await page.getByText('Approval request expired').first().waitFor()
    await look('session with a lost request')
    await go(page, `/sessions/${failed.id}`)
    await heading(page, 'Failed')
    await look('failed session')
    await go(page, '/sessions/none')
    await heading(page, 'There is no such session')
    await look('no such session')
    expect(found).toEqual({})
  })

  it('neither has any other page', async () => {
    await using around = await lookAround('/history')
    const { page, look, found } = around
    await page.getByRole('list', { name: 'Requests' }).waitFor()
    await look('history')
    await go(page, '/history?tool=none')
    await page.getByText('No request fits').waitFor()
    await look('empty history')
    await go(page, '/gate')
    await heading(page, 'What agents are told')
    await look('gate')
    await go(page, '/keys')
    await page.getByRole('list', { name: 'Keys' }).waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Name').and(page.locator('[aria-invalid=true]')).waitFor()
    await look('keys with an error')
    await page.getByLabel('Name').fill('Made for a look')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Copy it now').waitFor()
    await page.getByRole('button', { name: 'Rotate Made' }).click()
    await page.getByRole('dialog', { name: 'Rotate Made' }).waitFor()
    await look('keys with the dialog of a rotation')
    await page.getByRole('button', { name: 'Rotate this key' }).click()
    await page.getByText('replaced by').waitFor()
    await page.getByRole('button', { name: 'Revoke Made' }).first().click()
    await look('keys with a new one')
    await go(page, '/nowhere')
    await heading(page, 'There is no such page')
    await look('no such page')
    expect(found).toEqual({})
  })

  it('neither has what is seen without a role, a connection or a key', async () => {
    const { secret } = await createKey(house, 'A viewer', 'VIEWER')
    const { page, context } = await visit(browser, house, `/sessions/${forms.id}`, { key: secret })
    await page.getByText('you can follow this request').waitFor()
    expect(await violations(page)).toEqual([])
    await context.setOffline(true)
    await page.getByText('You are offline.').waitFor()
    expect(await violations(page)).toEqual([])
    await context.close()

    const stranger = await visitSignedOut(browser, house)
    await stranger.page.goto(house.url)
    await stranger.page.getByRole('button', { name: 'Sign in' }).click()
    await stranger.page.getByText('Enter a key.').waitFor()
    expect(await violations(stranger.page)).toEqual([])
    await stranger.context.close()

    const unlucky = await visitSignedOut(browser, house)
    await unlucky.page.route('**/graphql', (route) => route.abort())
    await unlucky.page.goto(house.url)
    await heading(unlucky.page, 'Holdpoint cannot be reached')
    expect(await violations(unlucky.page)).toEqual([])
    await unlucky.context.close()
  })
})

it('everything works by keyboard alone: from the skip link to an answer', async () => {
  const session = await createSession(house, 'By keyboard')
  const requestId = await ask(house, session, {
    tool: 'by_keyboard',
    requestedSchema: {
      type: 'object',
      properties: {
        reason: { type: 'string', title: 'Reason' },
        region: { type: 'string', title: 'Region', enum: ['eu', 'us'] },
        checks: { type: 'array', title: 'Checks', items: { enum: ['unit', 'e2e'] } },
      },
      required: ['region'],
    },
  })
  const { page, context } = await visit(browser, house, `/sessions/${session.id}`)
  await heading(page, 'by_keyboard')
  const press = (key: string) => page.keyboard.press(key)
  await press('Tab')
  expect(await focused(page)).toBe('Skip to the content')
  await press('Enter')
  await press('Tab')
  await page.keyboard.type('with no mouse')
  await press('Tab')
  await press('ArrowDown')
  await tabTo(page, 'unit')
  await press('Tab')
  await press('Space')
  await tabTo(page, 'Accept')
  expect(await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle)).not.toBe('none')
  // Faster than any person: the buttons may still be dead.
  await page.getByRole('button', { name: 'Accept' }).click({ trial: true })
  await press('Enter')
  await heading(page, 'Accepted')
  const { action, content } = await poll(house, requestId, 0)
  expect(action).toBe('accept')
  expect(content).toEqual({
    reason: 'with no mouse',
    region: expect.stringMatching(/eu|us/),
    checks: ['e2e'],
  })
  await tabTo(page, 'Clear by_keyboard')
  await press('Enter')
  await page.getByRole('heading', { name: 'Accepted' }).waitFor({ state: 'detached' })
  await context.close()
})

it('nothing moves by itself for whoever asked for less motion', async () => {
  const { page, context } = await visit(browser, house, '/', { reducedMotion: 'reduce' })
  await heading(page, 'Needs you')
  const moving = await page.evaluate(
    () =>
      [...document.querySelectorAll('*')].filter((element) => {
        const { transitionDuration, animationDuration, animationName } = getComputedStyle(element)
        return (
          Number.parseFloat(transitionDuration) > 0.001 ||
          (animationName !== 'none' && Number.parseFloat(animationDuration) > 0.001)
        )
      }).length,
  )
  expect(moving).toBe(0)
  await context.close()
})

/** What has the focus, by its name. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLElement & { labels?: NodeListOf<HTMLLabelElement> }
    return element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent ?? ''
  })
}

async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = []
  for (let steps = 0; steps < 30; steps++) {
    const now = await focused(page)
    if (now === name) return
    passed.push(now)
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab never reaches "${name}", only ${passed.join(', ')}`)
}
