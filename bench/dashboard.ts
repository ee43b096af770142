import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../test/e2e/support/browser.ts'
import { ask, createSession, type House as Doors, respond } from '../test/e2e/support/house.ts'
import { visit } from '../test/e2e/support/people.ts'
import { type Figure, printFigures } from './figure.ts'
import { median } from './harness.ts'
import { adminKey, type House, openHouse } from './house.ts'

/**
 * The dashboard in the real browser, against a database of 1,000 sessions and 200 requests that wait: how long after the HTML the
 * first banner can be answered, how long after the POST's response a new banner is on the page, and whether anything moves when
 * banners come and go.
 *
 *   node bench/dashboard.ts
 */
const sessions = 1_000
const pending = 200
/** What a small link below the banners may add, which makes room for a new one. Browsers call 0.1 good. */
const noShift = 0.01
const visits = 5
const arrivals = 8

export async function measureDashboard(): Promise<Figure[]> {
  const root = join(import.meta.dirname, '..')
  const build = spawnSync(process.execPath, ['build.ts'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (build.status !== 0) throw new Error('the dashboard does not build')
  await using house = await openHouse()
  await seed(house)
  const browser = await openBrowser()
  try {
    const doors = { url: `http://127.0.0.1:${house.ours.port}`, adminKey }
    return [...(await firstViews(browser, doors)), ...(await comingsAndGoings(browser, doors))]
  } finally {
    await browser.close()
  }
}

async function firstViews(browser: Browser, doors: Doors): Promise<Figure[]> {
  const seen: Record<'answerable' | 'shift', number[]> = { answerable: [], shift: [] }
  // One more than counts: the first one finds a server that has not run its code yet.
  for (let i = -1; i < visits; i++) {
    const { page, context } = await visit(browser, doors, '/', { prepare: watch })
    await page.getByRole('heading', { name: 'Running' }).waitFor()
    const view = await page.evaluate(() => {
      const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
      return {
        answerable: window.bench.firstAnswerableAt - navigation!.responseEnd,
        shift: window.bench.shift,
      }
    })
    await context.close()
    if (i < 0) continue
    seen.answerable.push(view.answerable)
    seen.shift.push(view.shift)
  }
  return [
    figure('dashboard, first view: from the HTML to the first Accept', seen.answerable, 'ms', 1_000),
    figure('dashboard, first view: layout shift', seen.shift, 'shift', noShift),
  ]
}

async function comingsAndGoings(browser: Browser, doors: Doors): Promise<Figure[]> {
  const figures: Figure[] = []
  const arriving = await createSession(doors, 'Of the bench')
  for (const [name, path] of [
    ['home', '/'],
    ['the session', `/sessions/${arriving.id}`],
  ] as const) {
    const { page, context } = await visit(browser, doors, path, { prepare: watch })
    await page.getByRole('heading', { level: 1 }).waitFor()
    // What comes with the first view is not what is measured here.
    await page.waitForLoadState('networkidle')
    await page.evaluate(() => {
      window.bench.shift = 0
    })
    const came: number[] = []
    const went: number[] = []
    for (let i = 0; i < arrivals; i++) {
      const tool = `${path === '/' ? 'home' : 'page'}_${i}`
      const requestId = await ask(doors, arriving, { tool })
      const postedAt = Date.now()
      came.push(Math.max(0, (await shownAt(page, tool)) - postedAt))
      await respond(doors, requestId, 'cancel')
      const answeredAt = Date.now()
      went.push(Math.max(0, (await goneAt(page, tool)) - answeredAt))
    }
    const shift = await page.evaluate(() => window.bench.shift)
    await context.close()
    figures.push(
      figure(`dashboard, ${name}: from the POST's response to the new banner`, came, 'ms', 200),
      figure(`dashboard, ${name}: from an answer elsewhere to its outcome`, went, 'ms', 1_000),
      figure(`dashboard, ${name}: layout shift of ${arrivals} that came and went`, [shift], 'shift', noShift),
    )
  }
  return figures
}

declare global {
  interface Window {
    bench: {
      shift: number
      firstAnswerableAt: number
      /** By tool name, in milliseconds since 1970: when its banner was there to answer, and when it was not any more. */
      shown: Map<string, number>
      gone: Map<string, number>
    }
  }
}

/** Has the page write down when things are on it: as of the frame in which they are. */
async function watch(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const bench = { shift: 0, firstAnswerableAt: 0, shown: new Map(), gone: new Map() }
    window.bench = bench
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        bench.shift += (entry as PerformanceEntry & { value: number }).value
    }).observe({ type: 'layout-shift', buffered: true })
    const look = () => {
      const now = performance.timeOrigin + performance.now()
      const open = new Set<string>()
      for (const banner of document.querySelectorAll('section[data-open]')) {
        if (!banner.querySelector('button[data-answer]')) continue
        bench.firstAnswerableAt ||= performance.now()
        const tool = banner.querySelector('h2')?.textContent ?? ''
        open.add(tool)
        if (!bench.shown.has(tool)) bench.shown.set(tool, now)
      }
      for (const tool of bench.shown.keys())
        if (!open.has(tool) && !bench.gone.has(tool)) bench.gone.set(tool, now)
    }
    let due = false
    new MutationObserver(() => {
      if (due) return
      due = true
      requestAnimationFrame(() => {
        due = false
        look()
      })
    }).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ['data-open'] })
  })
}

const shownAt = (page: Page, tool: string) => when(page, 'shown', tool)
const goneAt = (page: Page, tool: string) => when(page, 'gone', tool)

async function when(page: Page, what: 'shown' | 'gone', tool: string): Promise<number> {
  const found = await page.waitForFunction(([what, tool]) => window.bench[what].get(tool), [
    what,
    tool,
  ] as const)
  return (await found.jsonValue())!
}

function figure(what: string, values: number[], unit: string, atMost: number): Figure {
  const value = median(values)
  const spread: Figure['spread'] = [Math.min(...values), Math.max(...values)]
  return { what, ours: value, against: null, unit, value, spread, goal: { atMost } }
}

/** A fifth of the sessions has a request that waits, with forms as they come; the others are in every other state. */
async function seed(house: House): Promise<void> {
  await house.seed(
    `insert into session (id, slug, title, status, blocked_on_elicitation, needs_input_since, failure_reason, created_at, updated_at)
     select uuidv7(), 'bench-' || i, 'Agent ' || i || ' at work', s::session_status, i <= $2,
       case when s = 'needs_input' then now() - i * interval '1 second' end,
       case when s = 'failed' then 'exited with code 1' end, now() - i * interval '1 minute', now() - i * interval '1 second'
     from generate_series(1, $1::int) i, lateral (select case when i <= $2 + 20 then 'needs_input'
       else (array['running', 'waiting', 'failed', 'archived'])[1 + i % 4] end as s) of_it`,
    [sessions, pending],
  )
  await house.seed(
    `insert into elicitation (id, request_id, session_id, message, tool_name, requested_schema, caller_address, expires_at, created_at)
     select uuidv7(), 'bench-' || slug, id, 'Delete the tenant of ' || title || E'?\\n\\nLast sign-in: 214 days ago.', 'delete_tenant',
       case when right(slug, 1) < '5' then $1 else $2 end::json, '192.0.2.1', now() + interval '40 minutes', now()
     from session where blocked_on_elicitation`,
    [
      JSON.stringify({
        type: 'object',
        properties: { confirm: { type: 'boolean', title: 'Delete it?' } },
        required: ['confirm'],
      }),
      JSON.stringify({
        type: 'object',
        properties: {
          reason: { type: 'string', title: 'Reason', maxLength: 80 },
          region: { type: 'string', title: 'Region', enum: ['eu', 'us', 'ap'] },
          replicas: { type: 'integer', title: 'Replicas', minimum: 1, maximum: 9 },
          dry: { type: 'boolean', title: 'Dry run', default: true },
        },
        required: ['reason'],
      }),
    ],
  )
  await house.seed('analyze')
}

if (import.meta.main) printFigures(await measureDashboard())
