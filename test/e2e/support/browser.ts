import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

const unwanted = new Set([
  // With these two, the second page of a browser hangs.
  '--single-process',
  '--no-zygote',
  // No browser of a person lets the pages of one site read another's.
  '--disable-web-security',
  '--allow-running-insecure-content',
])

/** The real browser that comes with the packages. */
export async function openBrowser(): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [
      ...chromium.args.filter((argument) => !unwanted.has(argument)),
      // Nothing but the server under test is talked to.
      '--disable-background-networking',
      '--disable-component-update',
    ],
    headless: true,
  })
}

export const phone = { width: 375, height: 667 }
export const desk = { width: 1280, height: 800 }
