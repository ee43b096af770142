import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Page } from 'playwright-core'
import { startApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { removeDataFolder } from '../../src/database/embedded.ts'
import { desk, openBrowser, phone } from './support/browser.ts'
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
import { type VisitOptions, visit, visitSignedOut } from './support/people.ts'

/**
 * `node test/e2e/screenshots.ts [name…]` pictures every page and state into screenshots/, at two sizes, light and dark.
 * `node test/e2e/screenshots.ts --readme` makes docs/dashboard.png, the one that the README shows.
 */
const forReadme = process.argv[2] === '--readme'
const wanted = process.argv.slice(2)
const folder = 'screenshots'
const port = 4_799

const dataDir = await mkdtemp(join(tmpdir(), 'holdpoint-screenshots-'))
const adminKey = 'an-admin-key-for-pictures'
const read = readConfig(
  {
    PORT: String(port),
    HOLDPOINT_DATA_DIR: dataDir,
    HOLDPOINT_ADMIN_KEY: adminKey,
    HOLDPOINT_TRUST_PROXY: '127.0.0.1',
    LOG_LEVEL: 'error',
  },
  process.cwd(),
)
if (!read.ok) throw new Error(read.problems.join('; '))
const clock = { aheadMs: 0 }
const app = await startApp(read.config, {
  log: pino({ level: 'error' }),
  now: () => new Date(Date.now() + clock.aheadMs),
})
const browser = await openBrowser()
const house: House = { url: `http://127.0.0.1:${port}`, adminKey }

type Scene = { name: string; path: string; key?: string; prepare?: (page: Page) => Promise<void> }

try {
  if (forReadme) {
    const scene = (await stage()).find(({ name }) => name === 'home')!
    await picture(scene, { viewport: desk, colorScheme: 'light' }, (page) =>
      page.screenshot({ path: join('docs', 'dashboard.png') }),
    )
  } else {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    await pictureEmpty()
    await pictureAll(await stage())
  }
} finally {
  await browser.close()
  await app.close()
  await removeDataFolder(dataDir)
}

async function pictureAll(scenes: Scene[]) {
  for (const [size, viewport] of [
    ['phone', phone],
    ['desk', desk],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const)
      for (const scene of scenes) {
        if (wanted.length > 0 && !wanted.some((name) => scene.name.startsWith(name))) continue
        const file = join(folder, `${scene.name}-${size}-${colorScheme}`)
        await picture(scene, { viewport, colorScheme, hasTouch: size === 'phone' }, async (page) => {
          await page.screenshot({ path: `${file}.png` })
          if (size === 'desk' || scene.name.includes('form'))
            await page.screenshot({ path: `${file}-full.png`, fullPage: true })
        })
      }
}

async function picture(scene: Scene, options: VisitOptions, take: (page: Page) => Promise<unknown>) {
  const { page, context } = await (scene.key === ''
    ? visitSignedOut(browser, house, options)
    : visit(browser, house, scene.path, { ...options, key: scene.key }))
  if (scene.key === '') await page.goto(`${house.url}${scene.path}`)
  await page.getByRole('heading').first().waitFor()
  await scene.prepare?.(page)
  // Until the buttons live.
  await page.waitForTimeout(700)
  await take(page)
  await context.close()
}

/** Sessions, requests and keys as a working day leaves them. */
async function stage(): Promise<Scene[]> {
  clock.aheadMs = -2 * 60 * 60_000
  const lost = await createSession(house, 'Renew the certificates')
  const missed = await ask(house, lost, {
    message: 'Replace the certificate of api.acme.example, which ends in 3 days?',
    tool: 'replace_certificate',
    requestedSchema: confirming('Replace it?'),
  })
  clock.aheadMs = 0
  await poll(house, missed, 0)
  const flooded = await createSession(house, 'Tidy the wiki')
  const viewer = await createKey(house, 'Wall display', 'VIEWER')
  const responder = await createKey(house, 'Night shift', 'RESPONDER')
  await createKey(house, 'Deploy bot', 'LAUNCHER')

  const tenants = await createSession(house, 'Clean up inactive tenants')
  const release = await createSession(house, 'Release 4.2 to production')
  const forms = await createSession(house, 'Every kind of field')
  const connect = await createSession(house, 'Connect the billing account', { runtime: 'CODEX' })
  const long = await createSession(house, 'Review a long plan')
  const paused = await createSession(house, 'Summarise the incident')
  await command(house, 'pauseSession', paused.id)
  const failed = await createSession(house, 'Migrate the search index')
  await command(house, 'failSession', failed.id, ', reason: "exited with code 137 after 4 minutes"')
  await createSession(house, 'Nightly report', { start: false })
  await createSession(house, 'Refactor the parser')
  const old = await createSession(house, 'Prototype of the importer')
  await command(house, 'archiveSession', old.id)

  const done = await ask(house, release, {
    message: 'Rotate the signing key?',
    tool: 'rotate_key',
    requestedSchema: confirming('Rotate it?'),
  })
  await respond(house, done, 'accept', {}, responder.secret)
  await poll(house, done)
  const declined = await ask(house, release, { message: 'Skip the smoke test?', tool: 'skip_checks' })
  await respond(
    house,
    declined,
    'decline',
    { note: 'Not before a release. Run it on the staging cluster instead.' },
    responder.secret,
  )
  const dismissed = await ask(house, paused, { message: 'Which quarter?', tool: null })
  await respond(house, dismissed, 'cancel')
  const no = await ask(house, release, {
    message: 'Drop the old table?',
    tool: 'drop_table',
    requestedSchema: confirming('Drop it?'),
  })
  await respond(house, no, 'accept', { content: { confirm: false } })

  await ask(house, tenants, {
    message:
      'Delete the tenant "acme-trial-17" and its 3 databases?\n\nLast sign-in: 214 days ago\nOpen invoices: none',
    requestedSchema: confirmSchema,
    context: 'Cleaning up trial tenants that nobody has used for six months.',
    expiresAt: inMinutes(1.6),
  })
  await ask(house, release, {
    message: 'Where should 4.2 go first?',
    tool: 'choose_environment',
    requestedSchema: {
      type: 'object',
      properties: {
        region: {
          type: 'string',
          title: 'Region',
          oneOf: [
            { const: 'eu-1', title: 'Frankfurt' },
            { const: 'us-2', title: 'Oregon' },
          ],
          default: 'eu-1',
        },
        reason: {
          type: 'string',
          title: 'Reason',
          description: 'Shown in the change log.',
          minLength: 5,
          maxLength: 80,
        },
      },
      required: ['region', 'reason'],
    },
    expiresAt: inMinutes(42),
  })
  await ask(house, forms, {
    message: 'One of each.',
    tool: 'every_field',
    requestedSchema: everyField,
    expiresAt: inMinutes(180),
  })
  await ask(house, connect, {
    message: 'Sign in to the billing provider so that I can read the invoices.',
    tool: 'connect_account',
    url: 'http://billing.example@xn--pple-43d.example:8443/connect?session=1f0c',
    expiresAt: inMinutes(25),
  })
  await ask(house, long, {
    message: Array.from(
      { length: 200 },
      (_, index) =>
        `${index + 1}. Step ${index + 1} of the plan: move the records of shard ${index} and check them.`,
    ).join('\n'),
    tool: 'apply_plan',
    requestedSchema: confirming('Apply the plan?'),
    expiresAt: inMinutes(55),
  })
  await ask(house, flooded, { message: 'Delete 14 empty pages?', tool: 'delete_pages', from: '192.0.2.7' })
  for (let i = 1; i <= 4; i++)
    await ask(house, flooded, {
      message: `Click here to win prize no. ${i}!`,
      tool: 'claim_prize',
      from: '203.0.113.9',
    })
  void poll(
    house,
    await ask(house, tenants, {
      message: 'Also delete its backups?',
      tool: 'delete_backups',
      requestedSchema: confirming('Delete the backups?'),
      expiresAt: inMinutes(58),
    }),
    60,
  )

  return [
    { name: 'home', path: '/' },
    { name: 'home-viewer', path: '/', key: viewer.secret },
    { name: 'home-answered', path: '/', prepare: answerElsewhere(release) },
    { name: 'session-form', path: `/sessions/${forms.id}` },
    { name: 'session-form-errors', path: `/sessions/${forms.id}`, prepare: pressAccept },
    { name: 'session-confirm', path: `/sessions/${tenants.id}` },
    {
      name: 'session-long',
      path: `/sessions/${long.id}`,
      prepare: (page) => page.getByRole('button', { name: 'Accept' }).waitFor(),
    },
    { name: 'session-url', path: `/sessions/${connect.id}` },
    { name: 'session-paused', path: `/sessions/${paused.id}` },
    { name: 'session-failed', path: `/sessions/${failed.id}` },
    {
      name: 'session-archive',
      path: `/sessions/${tenants.id}`,
      prepare: (page) => page.getByRole('button', { name: 'Archive' }).click(),
    },
    { name: 'session-lost', path: `/sessions/${lost.id}` },
    {
      name: 'session-flood',
      path: `/sessions/${flooded.id}`,
      prepare: async (page) => {
        await page.getByRole('button', { name: 'Dismiss all 4 from' }).click()
        await page.getByRole('button', { name: 'Dismiss them all' }).scrollIntoViewIfNeeded()
      },
    },
    { name: 'session-missing', path: '/sessions/none' },
    { name: 'history', path: '/history' },
    { name: 'history-none', path: '/history?tool=nothing' },
    { name: 'gate', path: '/gate' },
    { name: 'keys', path: '/keys' },
    { name: 'keys-viewer', path: '/keys', key: viewer.secret },
    { name: 'not-found', path: '/nowhere' },
    { name: 'sign-in', path: '/', key: '' },
    {
      name: 'sign-in-wrong',
      path: '/',
      key: '',
      prepare: async (page) => {
        await page.getByLabel('Key', { exact: true }).fill('not-a-key')
        await page.getByRole('button', { name: 'Sign in' }).click()
        await page.getByText('key', { exact: false }).first().waitFor()
        await page.waitForTimeout(300)
      },
    },
    {
      name: 'offline',
      path: '/',
      prepare: async (page) => {
        await page.context().setOffline(true)
        await page.waitForTimeout(1_500)
      },
    },
  ]
}

async function pictureEmpty() {
  for (const [size, viewport] of [
    ['phone', phone],
    ['desk', desk],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, context } = await visit(browser, house, '/', { viewport, colorScheme })
      await page.getByText('Nothing needs you').waitFor()
      await page.screenshot({ path: join(folder, `home-empty-${size}-${colorScheme}.png`) })
      await context.close()
    }
}

function answerElsewhere(session: Session) {
  return async (page: Page) => {
    const main = page.getByRole('main')
    const id = await ask(house, session, {
      message: 'Purge the cache of the old release?',
      tool: 'purge_cache',
      requestedSchema: confirming('Purge it?'),
    })
    await main.getByRole('heading', { name: 'purge_cache' }).waitFor()
    await respond(house, id, 'accept')
    await main.getByRole('heading', { name: 'Accepted' }).waitFor()
    await poll(house, id)
    await main.getByText(/delivered .* later/).waitFor()
    await main.getByRole('heading', { name: 'Accepted' }).scrollIntoViewIfNeeded()
  }
}

async function pressAccept(page: Page) {
  await page.getByLabel('Replicas').fill('nine')
  await page.getByRole('button', { name: 'Accept' }).click()
  await page.getByText('another look.').waitFor()
}

function confirming(title: string) {
  return {
    type: 'object',
    properties: { confirm: { type: 'boolean', title, description: 'This cannot be undone.' } },
    required: ['confirm'],
  }
}

function inMinutes(minutes: number): Date {
  return new Date(Date.now() + minutes * 60_000)
}
