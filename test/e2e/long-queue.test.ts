import pg from 'pg'
import type { Browser } from 'playwright-core'
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

/** More than one page of the queue; the deadlines are in the order of the numbers. */
const waiting = 55
const pageSize = 50

async function fillQueue(): Promise<void> {
  const client = new pg.Client({ connectionString: server.connectionString })
  await client.connect()
  await client.query(
    `with made as (
       insert into session (id, slug, title, status, blocked_on_elicitation, needs_input_since, created_at, updated_at)
       select gen_random_uuid(), 'queued-' || i, 'Queued ' || i, 'needs_input', true, now(), now(), now() from generate_series(1, $1::int) i
       returning id, slug)
     insert into elicitation (id, request_id, session_id, message, tool_name, expires_at, created_at)
     select gen_random_uuid(), slug, id, 'Go on?', replace(slug, '-', '_'), now() + split_part(slug, '-', 2)::int * interval '10 seconds'
       + interval '30 minutes', now() from made`,
    [waiting],
  )
  await client.end()
}

it('a queue of more than a page shows whoever comes, and loses nobody who is pushed off the page', async () => {
  await fillQueue()
  const late = await createSession(house, 'The latest')
  const urgent = await createSession(house, 'The most urgent')
  const { page, context, complaints } = await visit(browser, house)
  const requests = page.getByRole('region', { name: /^Approval request/ })
  await expect.poll(() => requests.count()).toBe(pageSize)
  await page.getByText(`${pageSize} of ${waiting} sessions are shown`).waitFor()

  const latest = await ask(house, late, { tool: 'comes_last' })
  await page.getByRole('heading', { name: 'comes_last' }).waitFor()
  await expect.poll(() => page.title()).toBe(`(${waiting + 1}) Holdpoint`)

  await ask(house, urgent, { tool: 'most_urgent', expiresAt: new Date(Date.now() + 90_000) })
  await page.getByRole('heading', { name: 'most_urgent' }).waitFor()
  await page.getByText(`${pageSize + 2} of ${waiting + 2} sessions are shown`).waitFor()
  expect(await requests.count()).toBe(pageSize + 2)
  const pushedOff = requests.filter({
    has: page.getByRole('heading', { name: `queued_${pageSize}`, exact: true }),
  })
  expect(await pushedOff.count()).toBe(1)
  expect(await page.getByText('No longer waiting').count()).toBe(0)

  await respond(house, `queued-${pageSize}`, 'decline')
  await page.getByRole('heading', { name: 'Declined' }).waitFor()
  expect(await pushedOff.count()).toBe(0)
  await respond(house, latest, 'accept')
  await page.getByRole('heading', { name: 'Accepted' }).waitFor()
  await expect.poll(() => requests.count()).toBe(pageSize)
  expect(complaints).toEqual([])
  await context.close()
})
