import { expect, it } from 'vitest'
import { confirmSchema, createSession, post, requestId } from '../support/ask.ts'
import { patienceMs } from '../support/mcp.ts'
import { adminKey, startServer } from '../support/server.ts'
import { runExample } from './support/run-example.ts'

it('the terminal dashboard shows what comes and goes, and answers only what a key has asked and y has sent', {
  timeout: 90_000,
}, async () => {
  await using server = await startServer()
  const { id: session } = await createSession(server, { title: 'Clean up tenants' })
  await using screen = runExample('terminal-dashboard.ts', [], {
    HOLDPOINT_URL: server.url,
    HOLDPOINT_API_KEY: adminKey,
  })
  // What stands on it now; every change is the whole page again.
  const page = () => screen.output().split('---\n').at(-2) ?? ''
  const shows = (text: string | RegExp) => expect.poll(page, { timeout: patienceMs }).toMatch(text)
  await shows('nothing needs you')

  const id = requestId()
  await post(server, session, { id, requestedSchema: confirmSchema })
  await shows(
    /1 need you\n\n> delete_tenant: Delete the tenant acme\?\n {4}Clean up tenants · expires in \d+:\d\d/,
  )
  const action = async (of = id) =>
    (await server.rest('GET', `/api/v1/elicitations/${of}?wait=0`)).body.action

  screen.press('a')
  await shows('accept? y sends it')
  screen.press('n')
  const form = requestId()
  await post(server, session, {
    id: form,
    message: 'Why?',
    requestedSchema: { type: 'object', properties: { why: { type: 'string' } }, required: ['why'] },
  })
  await shows(/> delete_tenant: Delete[^>]*\n {2}delete_tenant: Why\?/)
  expect(await action()).toBe('pending')

  screen.press('\u001b[B')
  await shows(/> delete_tenant: Why\?/)
  screen.press('a')
  await shows(`this one wants more than a yes: ${server.url}/sessions/${session}`)
  screen.press('d')
  await shows('decline? y sends it')
  screen.press('y')
  await shows('sent: decline')
  expect(await action(form)).toBe('decline')
  await shows(/1 need you\n\n> delete_tenant: Delete/)

  screen.press('a')
  await shows('accept? y sends it')
  screen.press('y')
  await shows(/nothing needs you[\s\S]*sent: accept/)
  expect(await action()).toBe('accept')

  screen.press('q')
  expect(await screen.exited).toBe(0)
})
