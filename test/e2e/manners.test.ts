import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { openBrowser, phone } from './support/browser.ts'
import {
  ask,
  clearQueue,
  confirmSchema,
  createSession,
  graphql,
  type House,
  poll,
  respond,
  type Session,
} from './support/house.ts'
import { go, type Visit, visit } from './support/people.ts'

const clock = { aheadMs: 0 }
let server: TestServer
let browser: Browser
let house: House
let open: Visit
let page: Page
beforeAll(async () => {
  ;[server, browser] = await Promise.all([
    startServer({ now: () => new Date(Date.now() + clock.aheadMs) }),
    openBrowser(),
  ])
  house = { url: server.url, adminKey: server.config.adminKey! }
  open = await visit(browser, house)
  page = open.page
  await page.getByRole('heading', { name: 'Needs you' }).waitFor()
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

afterEach(() => clearQueue(house))

const reasonSchema = { type: 'object', properties: { reason: { type: 'string', title: 'Reason' } } }
const requests = () => page.getByRole('region', { name: 'Approval request' })
const ended = (words: string) => page.getByRole('heading', { name: words }).waitFor()

async function openSession(title = 'A session'): Promise<Session> {
  const session = await createSession(house, title)
  await go(page, `/sessions/${session.id}`)
  await page.getByRole('heading', { name: title }).waitFor()
  return session
}

async function withRequest(question: object = {}) {
  const session = await openSession()
  const requestId = await ask(house, session, question)
  await requests().waitFor()
  return { session, requestId }
}

/** How often this page has sent an answer. */
function countAnswers(): { count: number } {
  const sent = { count: 0 }
  page.on('request', (request) => {
    if (request.postData()?.includes('mutation Answer')) sent.count++
  })
  return sent
}

/** The moment at which all of these words are on the page, by the page's own clock: nobody's looking is timed with it. */
function whenItSays(words: string[]): Promise<number> {
  return page.evaluate(
    (words) =>
      new Promise<number>((resolve) => {
        new MutationObserver((_, observer) => {
          const text = document.querySelector('main')!.textContent
          if (!words.every((word) => text.includes(word))) return
          observer.disconnect()
          resolve(Date.now())
        }).observe(document.body, { childList: true, subtree: true, characterData: true })
      }),
    words,
  )
}

const isStillPending = async (requestId: string) => (await poll(house, requestId, 0)).action === 'pending'

describe('a banner that appears', () => {
  it('takes no focus from what somebody is typing', async () => {
    const { session } = await withRequest({ requestedSchema: reasonSchema })
    const reason = requests().getByLabel('Reason')
    await reason.focus()
    await page.keyboard.type('half a th')
    await ask(house, session, { requestedSchema: reasonSchema, tool: 'second' })
    await page.getByRole('heading', { name: 'second' }).waitFor()
    await page.keyboard.type('ought')
    expect(await page.getByLabel('Reason').first().inputValue()).toBe('half a thought')
  })

  it('is announced to a screen reader, and so is how it ended', async () => {
    const session = await openSession()
    const log = page.getByRole('log', { name: 'Announcements' })
    const requestId = await ask(house, session, { tool: 'wipe_disk' })
    await log.getByText('New approval request: wipe_disk, A session.').waitFor()
    await respond(house, requestId, 'decline')
    await log.getByText('wipe_disk: Declined').waitFor()
  })

  it('has dead buttons for its first half second, and live ones after', async () => {
    const session = await createSession(house, 'Dead at first')
    await go(page, `/sessions/${session.id}`)
    await page.getByRole('heading', { name: 'Dead at first' }).waitFor()
    // Presses the button the moment it is in the document, and then every 10 ms, as the hastiest finger would.
    await page.evaluate(() => {
      const presses: { at: number; pending: boolean }[] = []
      Object.assign(window, { presses })
      let appeared = 0
      const timer = setInterval(() => {
        const accept = [...document.querySelectorAll('button')].find(
          (button) => button.textContent === 'Accept',
        )
        if (!accept) {
          if (appeared) clearInterval(timer)
          return
        }
        appeared ||= performance.now()
        accept.click()
        presses.push({
          at: performance.now() - appeared,
          pending: accept.getAttribute('aria-busy') !== 'true',
        })
      }, 10)
    })
    await ask(house, session)
    await ended('Accepted')
    const presses = await page.evaluate(
      () => (window as unknown as { presses: { at: number; pending: boolean }[] }).presses,
    )
    const lived = presses.find(({ pending }) => !pending)!
    expect(presses[0]!.pending).toBe(true)
    expect(lived.at).toBeGreaterThan(450)
  })

  it('moves nothing that is already there, however soon its deadline', async () => {
    const first = await openSession()
    await go(page, '/')
    await ask(house, first, { tool: 'first_in', requestedSchema: reasonSchema })
    const heading = page.getByRole('heading', { name: 'first_in' })
    await heading.waitFor()
    const before = await heading.boundingBox()
    const second = await createSession(house, 'Urgent')
    await ask(house, second, { tool: 'more_urgent', expiresAt: new Date(Date.now() + 61_000) })
    await page.getByRole('heading', { name: 'more_urgent' }).waitFor()
    expect(await heading.boundingBox()).toEqual(before)
  })
})

describe('a banner that goes', () => {
  it('keeps its place and size, so that nothing slips under a finger', async () => {
    const session = await openSession()
    const above = await ask(house, session, { tool: 'above', requestedSchema: reasonSchema })
    await ask(house, session, { tool: 'below' })
    const below = page.getByRole('heading', { name: 'below' })
    await below.waitFor()
    const before = await below.boundingBox()
    await respond(house, above, 'decline')
    await ended('Declined')
    expect(await below.boundingBox()).toEqual(before)
  })

  it('leaves the buttons below dead for half a second when it is cleared away', async () => {
    const session = await openSession()
    const above = await ask(house, session, { tool: 'above', requestedSchema: reasonSchema })
    const below = await ask(house, session, { tool: 'below' })
    await page.getByRole('heading', { name: 'below' }).waitFor()
    await respond(house, above, 'decline')
    await ended('Declined')
    const accept = page.getByRole('button', { name: 'Accept' })
    await accept.click({ trial: true })
    await page.evaluate(() => {
      document.querySelector<HTMLElement>('button[aria-label="Clear above"]')!.click()
      requestAnimationFrame(() => {
        const accept = [...document.querySelectorAll('button')].find(
          (button) => button.textContent === 'Accept',
        )
        accept!.click()
      })
    })
    await page.getByText('above', { exact: true }).waitFor({ state: 'detached' })
    await accept.click({ trial: true })
    expect(await isStillPending(below)).toBe(true)
    await accept.click()
    await ended('Accepted')
  })
})

describe('answering', () => {
  it('is never done by Enter in a field', async () => {
    const sent = countAnswers()
    const { requestId } = await withRequest({ requestedSchema: reasonSchema })
    await requests().getByRole('button', { name: 'Accept' }).click({ trial: true })
    await requests().getByLabel('Reason').fill('because')
    for (const key of ['Enter', 'Control+Enter', 'Shift+Enter']) await page.keyboard.press(key)
    expect(await isStillPending(requestId)).toBe(true)
    expect(sent.count).toBe(0)
  })

  it('is never done by a single key on the page', async () => {
    const sent = countAnswers()
    const { requestId } = await withRequest()
    await requests().getByRole('button', { name: 'Accept' }).click({ trial: true })
    await page.locator('body').focus()
    for (const key of ['Enter', 'Space', 'a', 'y', 'd', 'Escape', 'Delete']) await page.keyboard.press(key)
    expect(await isStillPending(requestId)).toBe(true)
    expect(sent.count).toBe(0)
  })

  it('counts once when it is clicked twice', async () => {
    const sent = countAnswers()
    const { session, requestId } = await withRequest()
    await requests().getByRole('button', { name: 'Accept' }).dblclick()
    await ended('Accepted')
    expect(await poll(house, requestId, 0)).toMatchObject({ action: 'accept' })
    expect(sent.count).toBe(1)
    const { session: found } = await graphql(
      house,
      'query($id: ID!) { session(id: $id) { timeline(last: 50) { edges { node { type } } } } }',
      { id: session.id },
    )
    const types = found.timeline.edges.map(({ node }: { node: { type: string } }) => node.type)
    expect(types.filter((type: string) => type === 'elicitation.resolved')).toHaveLength(1)
  })

  it('moves the focus to the outcome, not to nowhere', async () => {
    await withRequest()
    const accept = requests().getByRole('button', { name: 'Accept' })
    await accept.click({ trial: true })
    await accept.focus()
    await page.keyboard.press('Enter')
    await ended('Accepted')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Accepted')
  })

  it('says what to do when the answer cannot be sent, and keeps everything', async () => {
    const { requestId } = await withRequest({ requestedSchema: reasonSchema })
    await requests().getByLabel('Reason').fill('kept')
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('mutation') ? route.abort() : route.continue(),
    )
    await requests().getByRole('button', { name: 'Accept' }).click()
    await requests().getByRole('alert').getByText('Holdpoint cannot be reached').waitFor()
    expect(await requests().getByLabel('Reason').inputValue()).toBe('kept')
    await page.unroute('**/graphql')
    await requests().getByRole('button', { name: 'Accept' }).click()
    await ended('Accepted')
    expect(await poll(house, requestId, 0)).toMatchObject({ content: { reason: 'kept' } })
  })
})

describe('a draft', () => {
  it('outlives a reload, with its note and every kind of entry', async () => {
    const { requestId } = await withRequest({
      requestedSchema: {
        type: 'object',
        properties: {
          reason: { type: 'string', title: 'Reason' },
          region: { type: 'string', title: 'Region', enum: ['eu', 'us'] },
          checks: { type: 'array', title: 'Checks', items: { enum: ['unit', 'e2e'] } },
          start: { type: 'string', title: 'Start', format: 'date-time' },
        },
      },
    })
    await requests().getByLabel('Reason').fill('half a thought')
    await requests().getByRole('radio', { name: 'us' }).check()
    await requests().getByRole('checkbox', { name: 'e2e' }).check()
    await requests().getByLabel('Start').fill('2026-02-28T10:00')
    await requests().getByLabel('Time zone').selectOption('UTC')
    await requests().getByRole('button', { name: 'Add a note' }).click()
    await requests().getByLabel('Note (optional)').fill('ask again')
    await page.reload()
    expect(await requests().getByLabel('Reason').inputValue()).toBe('half a thought')
    expect(await requests().getByLabel('Note (optional)').inputValue()).toBe('ask again')
    await requests().getByRole('button', { name: 'Accept with note' }).click()
    await ended('Accepted')
    expect(await poll(house, requestId, 0)).toMatchObject({
      content: { reason: 'half a thought', region: 'us', checks: ['e2e'], start: '2026-02-28T10:00:00Z' },
    })
  })

  it('outlives an answer given elsewhere, which replaces the form within a second and says who it was', async () => {
    const { requestId } = await withRequest({ requestedSchema: reasonSchema })
    await requests().getByLabel('Reason').fill('too late')
    const replacedAt = whenItSays(['Declined', 'by admin (REST)'])
    await respond(house, requestId, 'decline', { note: 'I know why' })
    const answeredAt = Date.now()
    expect((await replacedAt) - answeredAt).toBeLessThan(1_000)
    expect(await requests().count()).toBe(0)
    await page.getByText('What you had entered was not sent:').waitFor()
    await page.getByText('too late', { exact: true }).waitFor()
    await page.getByText('I know why').first().waitFor()
  })

  it('stays readable when the time is up while somebody types', async () => {
    const { requestId } = await withRequest({
      requestedSchema: reasonSchema,
      expiresAt: new Date(Date.now() + clock.aheadMs + 90_000),
    })
    await requests().getByLabel('Reason').pressSequentially('nearly')
    clock.aheadMs += 120_000
    expect((await poll(house, requestId, 0)).action).toBe('expired')
    await ended('Expired')
    await page.getByText('Nobody answered before it timed out').first().waitFor()
    await page.getByText('nearly', { exact: true }).waitFor()
  })
})

describe('a message of 200 lines on a phone', () => {
  it('scrolls within its banner, all of it in reach, the buttons in view', async () => {
    const session = await createSession(house, 'A long plan')
    const lines = Array.from(
      { length: 200 },
      (_, index) => `line ${index + 1} of the plan, which goes on for a while`,
    )
    await ask(house, session, { message: lines.join('\n'), requestedSchema: confirmSchema })
    const { page: small, context } = await visit(browser, house, `/sessions/${session.id}`, {
      viewport: phone,
    })
    const request = small.getByRole('region', { name: 'Approval request' })
    await request.waitFor()
    const message = request.getByRole('group', { name: 'Message from the MCP server' })
    for (const button of ['Accept', 'Decline', 'Dismiss'])
      expect(await inView(request.getByRole('button', { name: button }), small)).toBe(true)
    await message.focus()
    await small.keyboard.press('End')
    await expect
      .poll(() =>
        message.evaluate((element) => element.scrollTop + element.clientHeight >= element.scrollHeight - 1),
      )
      .toBe(true)
    expect(await message.textContent()).toBe(lines.join('\n'))
    for (const button of ['Accept', 'Decline', 'Dismiss'])
      expect(await inView(request.getByRole('button', { name: button }), small)).toBe(true)
    expect(await small.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(phone.width)
    await context.close()
  })
})

async function inView(locator: Locator, on: Page): Promise<boolean> {
  const box = (await locator.boundingBox())!
  const { width, height } = on.viewportSize()!
  return box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height
}
