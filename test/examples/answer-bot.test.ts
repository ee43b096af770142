import { expect, it } from 'vitest'
import { confirmSchema, createSession, post, requestId } from '../support/ask.ts'
import { createTestDatabase } from '../support/database.ts'
import { adminKey, freePort, type TestClient } from '../support/server.ts'
import { spawnServer } from '../support/server-process.ts'
import { runExample } from './support/run-example.ts'

const rules = ['--allow', 'list_tenants', '--refuse', 'drop_table=Open a ticket instead.']
const needsText = { type: 'object', properties: { why: { type: 'string' } }, required: ['why'] }

async function ask(
  server: TestClient,
  session: string,
  tool: string,
  requestedSchema: object = confirmSchema,
) {
  const id = requestId()
  const asked = await post(server, session, {
    id,
    requestedSchema,
    meta: { 'com.pulsemcp/tool-name': tool },
  })
  expect(asked.status).toBe(201)
  return id
}

async function poll(server: TestClient, id: string) {
  const { body } = await server.rest('GET', `/api/v1/elicitations/${id}?wait=0`)
  return { action: body.action, content: body.content, note: body._meta['holdpoint/note'] }
}

it('the bot accepts what is allowed, declines what is refused, leaves the rest to people, and goes on when the server comes back', {
  timeout: 120_000,
}, async () => {
  await using ending = new AsyncDisposableStack()
  const { connectionString } = ending.use(await createTestDatabase())
  const port = await freePort()
  const first = ending.use(await spawnServer({ connectionString, port }))
  await first.ready
  const { id: session } = await createSession(first)
  const early = await ask(first, session, 'list_tenants')

  const bot = ending.use(
    runExample('answer-bot.ts', rules, { HOLDPOINT_URL: first.url, HOLDPOINT_API_KEY: adminKey }),
  )
  await bot.prints('list_tenants: accept\nwatching\n')
  const yes = { action: 'accept', content: { confirm: true }, note: 'Allowed by rule.' }
  expect(await poll(first, early)).toEqual(yes)

  const forPeople = [
    await ask(first, session, 'delete_tenant'),
    await ask(first, session, 'list_tenants', needsText),
  ]
  const refused = await ask(first, session, 'drop_table', needsText)
  await bot.prints('drop_table: decline\n')
  expect(await poll(first, refused)).toEqual({
    action: 'decline',
    content: null,
    note: 'Open a ticket instead.',
  })

  first.kill('SIGTERM')
  await first.exited
  await bot.prints(/lost the server/)
  const second = ending.use(await spawnServer({ connectionString, port }))
  await second.ready
  const late = await ask(second, session, 'list_tenants')
  await bot.prints(/trying again[\s\S]*list_tenants: accept\n/)
  expect(await poll(second, late)).toEqual(yes)
  for (const id of forPeople) expect((await poll(second, id)).action).toBe('pending')

  bot.stop()
  expect(await bot.exited).toBe(0)
})

it('the bot with a key that the server does not know says so and ends', { timeout: 60_000 }, async () => {
  await using ending = new AsyncDisposableStack()
  const { connectionString } = ending.use(await createTestDatabase())
  const server = ending.use(await spawnServer({ connectionString }))
  await server.ready
  const bot = ending.use(
    runExample('answer-bot.ts', rules, { HOLDPOINT_URL: server.url, HOLDPOINT_API_KEY: 'hp_unknown' }),
  )
  expect(await bot.exited).toBe(77)
  expect(bot.output()).toContain('This key is unknown')
})
