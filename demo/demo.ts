import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createApi, succeeded } from '../src/cli/api.ts'
import { dataFolder, findConnection, type Variables } from '../src/cli/connection.ts'
import {
  type AnswerData,
  answerDocument,
  type CreateSessionData,
  createSessionDocument,
  type PrepareLaunchData,
  prepareLaunchDocument,
} from '../src/cli/documents.ts'
import { startServerUnlessRunning } from './local-server.ts'
import { startTenantsServer } from './tenants-server.ts'

const pendingDocument = `query Pending($id: ID!) { session(id: $id) { pendingElicitations { id requestId message } } }`
interface PendingData {
  session: { pendingElicitations: { id: string; requestId: string; message: string }[] }
}
const pauseDocument = `mutation Pause($id: ID!) { pauseSession(id: $id) { __typename ... on UserError { message } } }`

const pendingPollMs = 250

/**
 * The main job on real input: a published MCP server with the unmodified client asks to delete a tenant, a person answers, and
 * the server carries on. What it would delete the tenant in is a stand-in on loopback.
 */
export async function startDemo(options: {
  environment: Variables
  /** Answers by itself, with the key in HOLDPOINT_API_KEY or HOLDPOINT_ADMIN_KEY; null leaves it to a person. */
  answer: 'accept' | 'decline' | 'cancel' | null
  say: (text: string) => void
}): Promise<void> {
  const { environment, answer, say } = options
  await using ending = new AsyncDisposableStack()
  ending.use(await startServerUnlessRunning(environment, say))

  const connection = await findConnection({ ...environment, HOLDPOINT_API_KEY: undefined })
  const { request } = createApi(connection)
  const created = await request<CreateSessionData>(createSessionDocument, {
    input: { title: 'Clean up trial tenants', start: true },
  })
  const { session } = succeeded<{ session: { id: string } }>(created.createSession)
  const launch = await request<PrepareLaunchData>(prepareLaunchDocument, { input: { sessionId: session.id } })
  const { env } = succeeded<{ env: { name: string; value: string }[] }>(launch.prepareLaunch)

  const tenants = ending.use(
    await startTenantsServer(Object.fromEntries(env.map(({ name, value }) => [name, value]))),
  )
  say('The agent calls delete_tenant for the tenant "acme-trial-17" …')
  const result = tenants.call('delete_tenant', { id_or_slug: 'acme-trial-17' })
  const asked = await Promise.race([waitForRequest(), result.then(early)])

  say(`\nIts MCP server asks, and waits:\n\n${asked.message.trim().replace(/^/gm, '    ')}\n`)
  if (answer === null) {
    const link = await readFile(join(dataFolder(environment), 'sign-in-link'), 'utf8').catch(() => '')
    say(`Answer it in the dashboard:  ${connection.url}/sessions/${session.id}`)
    if (link) say(`  (not signed in yet? once, within 15 minutes of the start: ${link.trim()})`)
    say(`or from a terminal, with a key of yours:

  curl -X PATCH ${connection.url}/api/v1/elicitations/${asked.requestId}/respond \\
    -H "X-API-Key: $HOLDPOINT_API_KEY" -H 'Content-Type: application/json' -d '{"action_type":"accept"}'

or look around in GraphiQL:    ${connection.url}/graphql\n`)
  } else await answerWith(answer)

  say(`The tool returned:\n\n${(await result).replace(/^/gm, '    ')}\n`)
  say(
    tenants.calls.length > 0
      ? `The stand-in for the tenants API was called: ${tenants.calls.join(', ')}.`
      : 'The stand-in for the tenants API was not called: nothing was deleted.',
  )
  await request(pauseDocument, { id: session.id })

  async function waitForRequest() {
    for (;;) {
      const { session: found } = await request<PendingData>(pendingDocument, { id: session.id })
      const [pending] = found.pendingElicitations
      if (pending) return pending
      await new Promise((resolve) => setTimeout(resolve, pendingPollMs))
    }
  }

  async function answerWith(action: 'accept' | 'decline' | 'cancel') {
    const apiKey = environment.HOLDPOINT_API_KEY ?? environment.HOLDPOINT_ADMIN_KEY
    if (!apiKey)
      throw new Error('To answer by itself the demo needs a key that may answer: set HOLDPOINT_API_KEY.')
    const answering = createApi({ url: connection.url, apiKey, key: 'own' })
    const given = await answering.request<AnswerData>(answerDocument, {
      input: { requestId: asked.requestId, action: action.toUpperCase() },
    })
    succeeded(given.respondToElicitation)
    say(`Answered: ${action}.\n`)
  }
}

function early(result: string): never {
  throw new Error(`The tool came back without asking anybody:\n${result}`)
}
