import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { desk } from './browser.ts'
import type { House } from './house.ts'

export type Visit = {
  page: Page
  context: BrowserContext
  /** What no visit may cause: errors, broken policies, requests to anybody else. */
  complaints: string[]
}

export type VisitOptions = Pick<
  BrowserContextOptions,
  'viewport' | 'colorScheme' | 'hasTouch' | 'reducedMotion'
> & {
  key?: string
  /** Before the page is opened. */
  prepare?: (page: Page) => Promise<void>
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>

/** Signing in is limited to a few times a minute; one cookie for each key serves all visits. */
const cookies = new Map<string, Promise<Cookies>>()

async function signIn(browser: Browser, house: House, key: string): Promise<Cookies> {
  const context = await browser.newContext()
  const response = await context.request.post(`${house.url}/api/v1/sign-in`, {
    data: { key },
    headers: { origin: house.url },
  })
  if (!response.ok()) throw new Error(`sign-in answered ${response.status()}: ${await response.text()}`)
  const given = await context.cookies()
  await context.close()
  return given
}

/** Opens a page as somebody who is signed in. */
export async function visit(
  browser: Browser,
  house: House,
  path = '/',
  options: VisitOptions = {},
): Promise<Visit> {
  const { key = house.adminKey, prepare, ...contextOptions } = options
  const credential = `${house.url} ${key}`
  if (!cookies.has(credential)) cookies.set(credential, signIn(browser, house, key))
  const opened = await visitSignedOut(browser, house, contextOptions)
  await opened.context.addCookies(await cookies.get(credential)!)
  await prepare?.(opened.page)
  await opened.page.goto(`${house.url}${path}`)
  return opened
}

/** A page that is not opened yet, of somebody who is not signed in. */
export async function visitSignedOut(
  browser: Browser,
  house: House,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: desk,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    ...options,
  })
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== house.url) complaints.push(`request to ${request.url()}`)
  })
  return { page, context, complaints }
}

/** Goes to another page of the dashboard as a link on the page would, without loading it anew. */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
}
