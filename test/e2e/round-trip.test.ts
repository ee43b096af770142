import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { openBrowser } from './support/browser.ts'
import { ask, confirmSchema, createSession, type House, poll, type Session } from './support/house.ts'
import { go, type Visit, visit, visitSignedOut } from './support/people.ts'

let server: TestServer
let browser: Browser
let house: House
beforeAll(async () => {
  ;[server, browser] = await Promise.all([
    startServer({ environment: { ELICITATION_EXPIRATION_MINUTES: '90' } }),
    openBrowser(),
  ])
  house = { url: server.url, adminKey: server.config.adminKey! }
})
afterAll(async () => {
  await browser?.close()
  await server?.[Symbol.asyncDispose]()
})

/** One visit serves all forms; nothing that they hold may make the browser complain. */
let forms: Visit
afterEach(() => expect(forms?.complaints ?? []).toEqual([]))

/** The page of a new session with one request of this form on it. */
async function withForm(requestedSchema: unknown, question: object = {}) {
  const session = await createSession(house, 'A form')
  const requestId = await ask(house, session, { requestedSchema, ...question })
  forms ??= await visit(browser, house)
  const { page } = forms
  await page.getByRole('heading', { level: 1 }).waitFor()
  await go(page, `/sessions/${session.id}`)
  const request = page.getByRole('region', { name: 'Approval request' })
  await request.waitFor()
  return {
    page,
    request,
    requestId,
    accept: () => request.getByRole('button', { name: 'Accept' }).click(),
    ended: (words: string) => page.getByRole('heading', { name: words }).waitFor(),
  }
}

const one = (property: unknown, required = true) => ({
  type: 'object',
  properties: { f: property },
  ...(required ? { required: ['f'] } : {}),
})

describe('signing in', () => {
  it('takes a key, and opens the page that was asked for', async () => {
    const { page, context } = await visitSignedOut(browser, house)
    await page.goto(`${house.url}/history`)
    await page.getByLabel('Key', { exact: true }).fill('not-a-key')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This key is unknown, expired or revoked.').waitFor()
    await page.getByLabel('Key', { exact: true }).fill(house.adminKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'History' }).waitFor()
    expect(await page.title()).toBe('History · Holdpoint')
    await context.close()
  })

  it('takes the one-time link once, and leaves no token in the address bar', async () => {
    const link = new URL(server.app.signInLink!)
    const { page, context } = await visitSignedOut(browser, house)
    await page.goto(`${house.url}${link.pathname}${link.hash}`)
    await page.getByRole('heading', { name: 'Needs you' }).waitFor()
    expect(page.url()).toBe(`${house.url}/`)
    await context.close()

    const second = await visitSignedOut(browser, house)
    await second.page.goto(`${house.url}${link.pathname}${link.hash}`)
    await second.page.getByText('This sign-in link was used before').waitFor()
    expect(second.page.url()).toBe(`${house.url}/sign-in`)
    await second.context.close()
  })

  it('is asked for again when the person signs out', async () => {
    const { page, context } = await visitSignedOut(browser, house)
    await page.goto(house.url)
    await page.getByLabel('Key', { exact: true }).fill(house.adminKey)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await context.close()
  })
})

describe('the round trip', () => {
  it('brings a request to the open page, and the answer to the waiting agent', async () => {
    const session = await createSession(house, 'Clean up tenants')
    const { page, context, complaints } = await visit(browser, house)
    await page.getByRole('heading', { name: 'Needs you' }).waitFor()

    const requestId = await ask(house, session, {
      message: 'Delete the tenant acme?\nIt has 3 users.',
      requestedSchema: confirmSchema,
    })
    const answer = poll(house, requestId)
    const request = page.getByRole('region', { name: 'Approval request' })
    await request.getByRole('heading', { name: 'delete_tenant' }).waitFor()
    await request.getByText('an MCP server of this session').waitFor()
    await request.getByText('waiting for the answer').waitFor({ timeout: 15_000 })
    expect(await request.getByText('Delete the tenant acme?').textContent()).toBe(
      'Delete the tenant acme?\nIt has 3 users.',
    )
    expect(await page.title()).toBe('(1) Holdpoint')

    await request.getByRole('button', { name: 'Accept' }).click()
    expect(await answer).toMatchObject({ action: 'accept', content: { confirm: true } })
    await page.getByText(/^delivered \d+\.\d s later/).waitFor()
    await page.getByRole('heading', { name: 'Accepted' }).waitFor()
    await expect.poll(() => page.title()).toBe('Holdpoint')
    expect(complaints).toEqual([])
    await context.close()
  })

  it.each([
    ['Decline', 'decline', 'Declined'],
    ['Dismiss', 'cancel', 'Dismissed without an answer'],
  ])('%s reaches the agent as %s, without content', async (button, action, words) => {
    const form = await withForm(one({ type: 'string' }))
    await form.request.getByLabel('f').fill('not to be sent')
    await form.request.getByRole('button', { name: button }).click()
    await form.ended(words)
    expect(await poll(house, form.requestId, 0)).toMatchObject({ action, content: null })
  })

  it('takes a word with a decline along', async () => {
    const form = await withForm({})
    await form.request.getByRole('button', { name: 'Add a note' }).click()
    await form.request.getByLabel('Note (optional)').fill('Use the staging cluster instead.')
    await form.request.getByRole('button', { name: 'Decline with note' }).click()
    await form.ended('Declined')
    expect(await poll(house, form.requestId, 0)).toMatchObject({
      action: 'decline',
      _meta: { 'holdpoint/note': 'Use the staging cluster instead.' },
    })
  })

  it('says so when the agent has not collected the answer, and when nobody was waiting', async () => {
    const form = await withForm({})
    await form.accept()
    await form.page.getByText(/^recorded, nobody was waiting/).waitFor()
    await poll(house, form.requestId, 0)
    await form.page.getByText(/^delivered .* later/).waitFor()
  })

  it('answers a request without any field with an accept alone', async () => {
    const form = await withForm(undefined)
    await form.accept()
    await form.ended('Accepted')
    expect(await poll(house, form.requestId, 0)).toMatchObject({ action: 'accept' })
  })
})

describe('each kind of field sends its value', () => {
  const fill = (text: string) => (page: Page) => page.getByLabel('Field').fill(text)
  const choose = (name: string) => (page: Page) => page.getByRole('radio', { name }).check()
  const tick =
    (...names: string[]) =>
    async (page: Page) => {
      for (const name of names) await page.getByRole('checkbox', { name }).check()
    }
  const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September']
  const sixty = Array.from({ length: 60 }, (_, index) => `Country ${index + 1}`)

  it.each<[string, object, (page: Page) => Promise<unknown>, unknown]>([
    ['text', { type: 'string' }, fill('OPS-12 🙂'), 'OPS-12 🙂'],
    ['long text', { type: 'string', maxLength: 400 }, fill('two\nlines'), 'two\nlines'],
    ['email', { type: 'string', format: 'email' }, fill('ada@example.org'), 'ada@example.org'],
    [
      'uri',
      { type: 'string', format: 'uri' },
      fill('https://example.org/run?x=1'),
      'https://example.org/run?x=1',
    ],
    ['date', { type: 'string', format: 'date' }, fill('2026-02-28'), '2026-02-28'],
    [
      'date-time here',
      { type: 'string', format: 'date-time' },
      fill('2026-07-28T10:00'),
      '2026-07-28T10:00:00+02:00',
    ],
    [
      'date-time elsewhere',
      { type: 'string', format: 'date-time' },
      async (page) => {
        await page.getByLabel('Field').fill('2026-02-28T10:00')
        await page.getByLabel('Time zone').selectOption('UTC')
      },
      '2026-02-28T10:00:00Z',
    ],
    ['number', { type: 'number' }, fill('12.25'), 12.25],
    ['integer', { type: 'integer' }, fill('3'), 3],
    ['boolean no', { type: 'boolean' }, choose('No'), false],
    [
      'boolean with a default',
      { type: 'boolean', default: true },
      (page) => page.getByRole('switch', { name: 'Field' }).uncheck(),
      false,
    ],
    ['few choices', { type: 'string', enum: ['eu', 'us'] }, choose('us'), 'us'],
    [
      'titled choices',
      {
        oneOf: [
          { const: 'p1', title: 'Small' },
          { const: 'p2', title: 'Large' },
        ],
      },
      choose('Large'),
      'p2',
    ],
    ['numbers to choose from', { type: 'integer', enum: [1, 2] }, choose('2'), 2],
    [
      'more choices',
      { type: 'string', enum: months },
      (page) => page.getByLabel('Field').selectOption('April'),
      'April',
    ],
    [
      'many choices',
      { type: 'string', enum: sixty },
      async (page) => {
        await page.getByRole('combobox', { name: 'Field' }).fill('try 42')
        await page.getByRole('option', { name: 'Country 42' }).click()
      },
      'Country 42',
    ],
    [
      'several',
      { type: 'array', items: { enum: ['unit', 'e2e', 'lint'] } },
      tick('lint', 'unit'),
      ['unit', 'lint'],
    ],
    [
      'several of many',
      { type: 'array', items: { enum: sixty } },
      async (page) => {
        for (const wanted of ['Country 42', 'Country 7']) {
          await page.getByRole('combobox', { name: 'Field' }).fill(wanted)
          await page.getByRole('option', { name: wanted, exact: true }).click()
        }
        await page.keyboard.press('Escape')
      },
      ['Country 7', 'Country 42'],
    ],
    [
      'free entries',
      { type: 'array', items: { type: 'string' } },
      fill('first\n\nsecond'),
      ['first', 'second'],
    ],
    ['JSON', { type: 'object' }, fill('{"depth": [1, 2]}'), { depth: [1, 2] }],
  ])('%s', async (_kind, property, enter, value) => {
    const form = await withForm({
      type: 'object',
      properties: { f: { title: 'Field', ...property }, other: { type: 'string' } },
      required: ['f'],
    })
    await enter(form.page)
    await form.accept()
    await form.ended('Accepted')
    expect(await poll(house, form.requestId, 0)).toMatchObject({ action: 'accept', content: { f: value } })
  })

  it('sends defaults untouched, and leaves out what was cleared or left empty', async () => {
    const form = await withForm({
      type: 'object',
      properties: {
        text: { type: 'string', default: 'eu-1' },
        cleared: { type: 'string', default: 'x' },
        empty: { type: 'string' },
        choice: { type: 'string', enum: ['a', 'b'], default: 'b' },
        list: { type: 'array', items: { enum: ['mail', 'chat'] }, default: ['mail'] },
      },
    })
    await form.request.getByLabel('cleared').fill('')
    await form.accept()
    await form.ended('Accepted')
    expect(await poll(house, form.requestId, 0)).toMatchObject({
      content: { text: 'eu-1', choice: 'b', list: ['mail'] },
    })
    expect(Object.keys((await poll(house, form.requestId, 0)).content)).toEqual(['text', 'choice', 'list'])
  })

  it('keeps properties that are called like parts of the language', async () => {
    const form = await withForm(
      JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["__proto__"]}',
      ),
    )
    await form.request.getByLabel('__proto__').fill('p')
    await form.request.getByLabel('constructor').fill('c')
    await form.accept()
    await form.ended('Accepted')
    expect(JSON.stringify((await poll(house, form.requestId, 0)).content)).toBe(
      '{"__proto__":"p","constructor":"c"}',
    )
  })

  it('points out everything that is wrong at once, in words, and sends nothing', async () => {
    const form = await withForm({
      type: 'object',
      properties: {
        why: { type: 'string', title: 'Why', minLength: 5 },
        mail: { type: 'string', title: 'Mail', format: 'email' },
        count: { type: 'integer', title: 'Count', minimum: 1 },
      },
      required: ['why'],
    })
    await form.request.getByLabel('Mail').fill('ada@localhost')
    await form.request.getByLabel('Count').fill('0')
    await form.accept()
    await form.request.getByText('Why is required.').waitFor()
    await form.request.getByText('Enter an email address such as name@example.org.').waitFor()
    await form.request.getByText('Must be 1 or more.').waitFor()
    await form.request.getByText('3 fields need another look.').waitFor()
    const why = form.request.getByLabel('Why')
    expect(await why.evaluate((element) => element === document.activeElement)).toBe(true)
    const described = await why.evaluate((element) =>
      element
        .getAttribute('aria-describedby')!
        .split(' ')
        .map((id) => document.getElementById(id)?.textContent),
    )
    expect(described).toContain('Why is required.')
    expect(await poll(house, form.requestId, 0)).toMatchObject({ action: 'pending' })

    await why.fill('because')
    await form.request.getByText('2 fields need another look.').waitFor()
  })

  it('shows what the server refuses at the field that it is about', async () => {
    const form = await withForm(one({ type: 'number', title: 'Step', multipleOf: 5 }))
    await form.request.getByText('Must be a multiple of 5.').waitFor()
    await form.request.getByLabel('Step').fill('7')
    await form.accept()
    await form.request.getByText('1 field needs another look.').waitFor()
    expect(await form.request.getByLabel('Step').getAttribute('aria-invalid')).toBe('true')
    expect(await poll(house, form.requestId, 0)).toMatchObject({ action: 'pending' })
  })

  it('warns about a field that asks for a secret', async () => {
    const form = await withForm(one({ type: 'string', title: 'API key' }))
    await form.request.getByText('This looks like a secret.').waitFor()
  })

  it('folds optional fields beyond the twentieth away, and never a required one', async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`field ${index + 1}`, { type: 'string' }]),
    )
    const form = await withForm({ type: 'object', properties, required: ['field 30'] })
    expect(await form.request.getByRole('textbox').count()).toBe(21)
    await form.request.getByRole('button', { name: 'Show 9 more optional fields' }).click()
    expect(await form.request.getByRole('textbox').count()).toBe(30)
  })
})

describe('a URL request', () => {
  it('shows the whole address with its host, opens it with nothing of ours, and is done by Done', async () => {
    const url = 'http://bank.example@xn--pple-43d.example:8443/connect?session=1'
    const form = await withForm(undefined, { url })
    await form.request.getByText(url.replace('http://', 'http://')).first().waitFor()
    expect(await form.request.locator('mark').textContent()).toBe('xn--pple-43d.example')
    for (const warning of [
      'beyond plain ASCII',
      'several scripts',
      'before the @',
      'unusual port 8443',
      'not encrypted',
    ])
      await form.request.getByText(warning).waitFor()
    const link = form.request.getByRole('link', { name: 'Open xn--pple-43d.example' })
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
    expect(await link.getAttribute('referrerpolicy')).toBe('no-referrer')
    expect(await link.getAttribute('target')).toBe('_blank')
    await form.request.getByRole('button', { name: 'Done' }).click()
    await form.ended('Accepted')
    expect(await poll(house, form.requestId, 0)).toMatchObject({ action: 'accept', content: null })
  })
})

describe("strangers' text", () => {
  it('is text: no markup, no link, no script, and no surprise of direction', async () => {
    const hostile =
      '<img src=x onerror="document.title=\'owned\'"> https://evil.example [a](javascript:alert(1)) \u202egnp.exe'
    const form = await withForm(
      one({ type: 'string', title: '<b>bold</b>', description: 'see https://evil.example' }),
      {
        message: hostile,
        tool: '<i>tool</i>',
        context: hostile,
      },
    )
    await form.request.getByText('From the MCP server:').waitFor()
    expect(await form.request.getByRole('link').count()).toBe(0)
    expect(await form.request.locator('img, b, i').count()).toBe(0)
    expect(await form.request.getByText('⟨U+202E⟩').count()).toBeGreaterThan(0)
    expect(await form.page.title()).not.toBe('owned')
  })
})

describe('the other pages', () => {
  let session: Session
  beforeAll(async () => {
    session = await createSession(house, 'For the record')
  })

  it('history tells who answered and whether it was delivered, and filters', async () => {
    const requestId = await ask(house, session, { tool: 'only_here', requestedSchema: confirmSchema })
    const { page, context } = await visit(browser, house, `/sessions/${session.id}`)
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByRole('heading', { name: 'Accepted' }).waitFor()
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByLabel('Tool').fill('only_here')
    const list = page.getByRole('list', { name: 'Requests' })
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1)
    const line = list.getByRole('listitem')
    await line.getByText('by admin (the dashboard)').waitFor()
    await line.getByText('recorded, nobody was waiting').waitFor()
    await poll(house, requestId, 0)
    await line.getByText(/delivered .* later/).waitFor()
    expect(new URL(page.url()).search).toBe('?tool=only_here')
    await page.getByLabel('Outcome').selectOption('Declined')
    await page.getByText('No request fits').waitFor()
    await page.reload()
    await page.getByText('No request fits').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await list.getByRole('listitem').first().waitFor()
    await context.close()
  })

  it('gate gives the five variables and a snippet for each runtime', async () => {
    const { page, context } = await visit(browser, house, '/gate')
    await page.getByText('ELICITATION_REQUEST_URL', { exact: true }).waitFor()
    for (const name of ['POLL_URL', 'PREFER_HTTP_FALLBACK', 'TTL_MS', 'SESSION_ID'])
      await page.getByText(`ELICITATION_${name}`, { exact: true }).waitFor()
    // An hour and a half, as this server is told to wait; the runtime waits five minutes more.
    await page.getByText('5400000', { exact: true }).waitFor()
    const claudeCode = page.getByRole('group', { name: 'Claude Code: .mcp.json' })
    await claudeCode.getByText('"mcpServers"').waitFor()
    await claudeCode.getByText('"timeout": 5700000').waitFor()
    await page
      .getByRole('group', { name: 'Codex: config.toml' })
      .getByText('[mcp_servers.example.env]')
      .waitFor()
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByText('Reachable', { exact: true }).waitFor()
    const access = page.getByRole('region', { name: 'Who can ask' })
    await access.getByText(/running sessions? asks? on the plain address/).waitFor()
    await access.getByText('set HOLDPOINT_GATE_ACCESS to mixed').waitFor()
    await context.close()
  })

  it('keys makes a key, shows it once, and revokes it', async () => {
    const { page, context } = await visit(browser, house, '/keys')
    await page.getByLabel('Name').fill('Night shift')
    await page.getByRole('button', { name: 'Create key' }).click()
    const made = page.getByRole('status').filter({ hasText: 'Key for Night shift' })
    const secret = (await made.locator('code').textContent())!
    expect(secret.length).toBeGreaterThan(20)
    await page.getByRole('button', { name: 'I have it' }).click()
    expect(await page.getByText(secret).count()).toBe(0)
    await page.getByRole('button', { name: 'Revoke Night shift' }).click()
    await page.getByRole('button', { name: 'Revoke this key' }).click()
    await page.getByRole('listitem').filter({ hasText: 'Night shift' }).getByText('revoked').waitFor()
    await context.close()
  })

  it('a session is paused, resumed and archived, with a question first where something would end', async () => {
    const { page, context } = await visit(browser, house, `/sessions/${session.slug}`)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('The agent’s process is stopped.').waitFor()
    await page.getByRole('button', { name: 'Pause session' }).click()
    await page.getByText('Needs input', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Running', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Archive' }).click()
    await page.getByRole('button', { name: 'Archive session' }).click()
    await page.getByRole('button', { name: 'Unarchive' }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Archived' }).first().waitFor()
    await context.close()
  })

  it('what is not there says so, and shows the way', async () => {
    const { page, context } = await visit(browser, house, '/nowhere')
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await page.goto(`${house.url}/sessions/none`)
    await page.getByRole('heading', { name: 'There is no such session' }).waitFor()
    await page.getByRole('main').getByRole('link', { name: 'home page' }).click()
    await page.getByRole('heading', { name: 'Needs you' }).waitFor()
    await context.close()
  })
})
