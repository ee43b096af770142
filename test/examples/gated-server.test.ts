import { join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, it } from 'vitest'
import { createSession } from '../support/ask.ts'
import { callTool, connectMcp, onePendingOf, respond } from '../support/mcp.ts'
import { startServer } from '../support/server.ts'
import { exampleFile } from './support/run-example.ts'

const holdpoint = join(import.meta.dirname, '..', '..', 'bin', 'holdpoint.js')

it('the gated server behind the bridge deletes what a person accepts, and nothing else', {
  timeout: 90_000,
}, async () => {
  await using server = await startServer()
  const { id: session } = await createSession(server)
  const client = await connectMcp(
    new StdioClientTransport({
      command: process.execPath,
      args: [holdpoint, 'bridge', '--', process.execPath, exampleFile('gated-server.ts')],
      env: {
        PATH: process.env.PATH ?? '',
        ELICITATION_REQUEST_URL: `${server.url}/api/v1/elicitations`,
        ELICITATION_POLL_URL: `${server.url}/api/v1/elicitations`,
        ELICITATION_SESSION_ID: session,
      },
      stderr: 'ignore',
    }),
  )
  const ask = async (answer: Record<string, unknown>) => {
    const called = callTool(client, 'delete_tenant', { tenant: 'acme' })
    const { requestId, message } = await onePendingOf(server, session)
    expect(message).toContain('Delete the tenant acme')
    await respond(server, requestId, answer)
    return (await called).text
  }
  expect(await ask({ action_type: 'decline' })).toBe(
    'The tenant acme was not deleted: the answer was decline.',
  )
  expect(await ask({ action_type: 'accept', content: { confirm: false } })).toContain('was not deleted')
  expect(await ask({ action_type: 'accept' })).toBe('The tenant acme was deleted.')
  expect((await callTool(client, 'delete_tenant', { tenant: 'acme' })).text).toBe('There is no tenant acme.')
  await client.close()
})
