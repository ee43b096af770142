import type { Browser, Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { openBrowser } from './support/browser.ts'
import { createKey, graphql, type House, revokeKey } from './support/house.ts'
import { type Visit, type VisitOptions, visit } from './support/people.ts'

const clock = { aheadMs: 0 }
const minute = 60_000
const hour = 60 * minute
const smallPhone = { width: 360, height: 640 }

let server: TestServer
let browser: Browser
let house: House
beforeAll(async () => {
  ;[server, browser] = await Promise.all([
    startServer({ now: () => new Date(Date.now() + clock.aheadMs) }),
    openBrowser(),
  ])
  house = { url: server.url, adminKey: server.config.adminKey! }
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

let open: Visit | null = null
afterEach(async () => {
  const complaints = open?.complaints ?? []
  await open?.context.close()
  open = null
  clock.aheadMs = 0
  expect(complaints).toEqual([])
})

/** The Keys page, and on it what has to do with the keys of this name. */
async function openKeys(name: string, options: VisitOptions = {}) {
  open = await visit(browser, house, '/keys', options)
  const { page } = open
  const dialog = page.getByRole('dialog', { name: `Rotate ${name}?` })
  const rotate = page.getByRole('button', { name: `Rotate ${name}`, exact: true })
  await rotate.waitFor()
  return {
    page,
    dialog,
    rotate,
    submit: dialog.getByRole('button', { name: 'Rotate this key' }),
    overlap: dialog.getByRole('combobox', { name: 'The old key works for' }),
    made: page.getByRole('status').filter({ hasText: `Key for ${name}` }),
    lines: page.getByRole('list', { name: 'Keys' }).getByRole('listitem').filter({ hasText: name }),
  }
}

const secretIn = async (made: Locator) => (await made.getByText(/^hp_/).textContent())!

const works = async (key: string) =>
  (await server.graphqlRaw('{ viewer { name role } }', {}, key)).body.data?.viewer ?? null

async function rotateElsewhere(id: string): Promise<string> {
  const { rotateApiKey } = await graphql(
    house,
    'mutation($id: ID!) { rotateApiKey(id: $id) { ... on RotateApiKeySuccess { apiKey { id } } } }',
    { id },
  )
  return rotateApiKey.apiKey.id
}

const hasFocus = (locator: Locator) => locator.evaluate((element) => element === document.activeElement)

describe('rotating a key', () => {
  it('makes a successor that is shown once, and the old one works until the overlap is over', async () => {
    const old = await createKey(house, 'Night shift', 'RESPONDER')
    const { page, dialog, rotate, submit, overlap, made, lines } = await openKeys('Night shift')
    await rotate.click()
    await dialog.getByText('with the same name and role (responder)').waitFor()
    expect(await overlap.locator('option:checked').textContent()).toBe('24 more hours')
    await overlap.selectOption('1 more hour')
    await dialog.getByText(/^Both work until .* Then whoever still uses the old one is signed out/).waitFor()
    await submit.click()

    await made.getByText('Copy it now: it is not shown again. The old one works until').waitFor()
    expect(await dialog.count()).toBe(0)
    const secret = await secretIn(made)
    const both = { name: 'Night shift', role: 'RESPONDER' }
    expect([await works(old.secret), await works(secret)]).toEqual([both, both])

    const [newPrefix, oldPrefix] = [secret.slice(0, 11), old.secret.slice(0, 11)]
    const oldLine = lines.filter({ hasText: `replaced by ${newPrefix}…` })
    await oldLine.getByText(/^works until/).waitFor()
    await lines.filter({ hasText: `replaces ${oldPrefix}…` }).waitFor()
    // What has a successor has no second one.
    expect(await rotate.count()).toBe(1)
    expect(await oldLine.getByRole('button', { name: 'Rotate' }).count()).toBe(0)

    await made.getByRole('button', { name: 'I have it' }).click()
    await made.waitFor({ state: 'detached' })
    expect(await page.getByText(secret).count()).toBe(0)
    clock.aheadMs = hour - minute
    expect([await works(old.secret), await works(secret)]).toEqual([both, both])
    clock.aheadMs = hour + minute
    expect([await works(old.secret), await works(secret)]).toEqual([null, both])
  })

  it('ends the old one at once where that is chosen, and says so before and after', async () => {
    const old = await createKey(house, 'Leaky bot', 'LAUNCHER')
    const { dialog, rotate, submit, overlap, made, lines } = await openKeys('Leaky bot')
    await rotate.click()
    await overlap.selectOption('0 minutes: it ends at once')
    await dialog.getByText('The old key is revoked at once').waitFor()
    await submit.click()
    await made.getByText('The old one is revoked.').waitFor()
    expect(await works(old.secret)).toBeNull()
    expect(await works(await secretIn(made))).toMatchObject({ role: 'LAUNCHER' })
    await lines.filter({ hasText: 'replaced by' }).getByText('revoked').waitFor()
  })

  it('keeps each new key on the page until somebody has it', async () => {
    await createKey(house, 'First bot', 'VIEWER')
    await createKey(house, 'Second bot', 'VIEWER')
    const first = await openKeys('First bot')
    await first.rotate.click()
    await first.submit.click()
    await first.made.waitFor()
    const { page } = first
    await page.getByRole('button', { name: 'Rotate Second bot' }).click()
    await page.getByRole('button', { name: 'Rotate this key' }).click()
    await page.getByRole('status').filter({ hasText: 'Key for Second bot' }).waitFor()
    expect(await works(await secretIn(first.made))).toMatchObject({ name: 'First bot' })
  })

  it('never signs somebody out before they have seen the new key', async () => {
    const { secret } = await createKey(house, 'Own key', 'ADMIN')
    const { page, dialog, rotate, submit, overlap, made } = await openKeys('Own key', { key: secret })
    await rotate.click()
    await dialog.getByText('You seem to be signed in with this key').waitFor()
    expect(await overlap.getByRole('option', { name: 'at once' }).count()).toBe(0)
    await overlap.selectOption('15 more minutes')
    await submit.click()
    expect(await works(await secretIn(made))).toMatchObject({ role: 'ADMIN' })
    await page.getByRole('listitem').filter({ hasText: 'replaced by' }).first().waitFor()
  })
})

describe('a rotation that is refused', () => {
  it('says in the dialog why, and what to do: the key was revoked meanwhile', async () => {
    const { id } = await createKey(house, 'Revoked bot', 'RESPONDER')
    const { page, dialog, rotate, submit, made, lines } = await openKeys('Revoked bot')
    await rotate.click()
    await revokeKey(house, id)
    await rotate.waitFor({ state: 'detached' })
    await submit.click()
    await dialog
      .getByRole('alert')
      .getByText('This key was revoked or has expired. Make a new one instead.')
      .waitFor()
    expect(await made.count()).toBe(0)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => hasFocus(lines)).toBe(true)
  })

  it('says in the dialog why, and what to do: somebody else was quicker', async () => {
    const { id } = await createKey(house, 'Popular bot', 'RESPONDER')
    const { dialog, rotate, submit, lines } = await openKeys('Popular bot')
    await rotate.click()
    const successorId = await rotateElsewhere(id)
    await submit.click()
    await dialog
      .getByRole('alert')
      .getByText(`This key has a successor already, the key ${successorId}. Rotate that one, or revoke`)
      .waitFor()
    await dialog.getByText(/The successor is hp_\S{8}… in the list/).waitFor()
    await dialog.getByRole('button', { name: 'Keep it as it is' }).click()
    await expect.poll(() => lines.count()).toBe(2)
  })

  it('says so when the server cannot be reached, and keeps what was chosen for another try', async () => {
    const old = await createKey(house, 'Far bot', 'VIEWER')
    const { page, dialog, rotate, submit, overlap, made } = await openKeys('Far bot')
    await rotate.click()
    await overlap.selectOption('7 more days')
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('mutation RotateKey') ? route.abort() : route.continue(),
    )
    await submit.click()
    await dialog.getByRole('alert').getByText('Holdpoint cannot be reached. Try again in a moment.').waitFor()
    expect(await overlap.locator('option:checked').textContent()).toBe('7 more days')
    await page.unroute('**/graphql')
    await submit.click()
    await made.waitFor()
    const { apiKeys } = await graphql(house, '{ apiKeys { id expiresAt } }')
    const { expiresAt } = apiKeys.find(({ id }: { id: string }) => id === old.id)
    expect(Math.round((Date.parse(expiresAt) - Date.now()) / hour)).toBe(7 * 24)
  })
})

it('works by keyboard alone on a narrow screen, and the focus comes back to where it was', async () => {
  await createKey(house, 'A key with a long name that wraps on any phone', 'OPERATOR')
  const { page, dialog, rotate, submit, overlap, made, lines } = await openKeys(
    'A key with a long name that wraps on any phone',
    { viewport: smallPhone },
  )
  const press = (key: string) => page.keyboard.press(key)
  const fits = () =>
    page.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll('dialog')].every(
        (element) => element.scrollWidth <= element.clientWidth && element.clientWidth <= innerWidth,
      ),
    )
  expect(await fits()).toBe(true)
  await rotate.focus()
  await press('Enter')
  await dialog.waitFor()
  expect(await hasFocus(overlap)).toBe(true)
  expect(await fits()).toBe(true)
  await press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await hasFocus(rotate)).toBe(true)

  await press('Enter')
  await dialog.waitFor()
  await press('Home')
  await press('ArrowDown')
  expect(await overlap.locator('option:checked').textContent()).toBe('15 more minutes')
  await press('Tab')
  expect(await hasFocus(submit)).toBe(true)
  await press('Space')
  await made.getByText('The old one works until').waitFor()
  await expect.poll(() => hasFocus(made)).toBe(true)
  expect(await fits()).toBe(true)
  const taken = made.getByRole('button', { name: 'I have it' })
  for (let steps = 0; steps < 3 && !(await hasFocus(taken)); steps++) await press('Tab')
  await press('Enter')
  await made.waitFor({ state: 'detached' })
  expect(await hasFocus(lines.filter({ hasText: 'replaced by' }))).toBe(true)
})
