import { parseArgs } from 'node:util'
import {
  graphql,
  KeyError,
  type Question,
  questionFields,
  respond,
  stayCurrent,
  takesBareYes,
  type Verdict,
} from './client.ts'

/**
 * Answers by rule, and leaves the rest to people. Needs Node 24, which `npm ci` brought:
 *
 *   npx node examples/answer-bot.ts --allow list_tenants --allow read_logs --refuse 'drop_table=Open a ticket instead.'
 *
 * Give it a key of its own (`holdpoint keys create answer-bot --role responder`) in HOLDPOINT_API_KEY: its name is on the timeline
 * of all that it answers. Bear in mind that a tool's name is what the MCP server says it is: allow what would do no harm if
 * another tool used its name, or look at `serverName` too, which is known on capability addresses.
 */
const { values } = parseArgs({
  options: {
    allow: { type: 'string', multiple: true, default: [] },
    refuse: { type: 'string', multiple: true, default: [] },
  },
})
const allowed = new Set(values.allow)
const refused = new Map(
  values.refuse.map((rule) => {
    const [tool = '', ...note] = rule.split('=')
    return [tool, note.join('=') || 'Refused by rule.']
  }),
)

interface Request extends Question {
  id: string
  status: string
  toolName: string | null
}
const requestFields = `id status toolName ${questionFields}`

/** The rules. Null leaves a request to people. */
function decide(request: Request): Verdict | null {
  const { toolName } = request
  if (toolName === null) return null
  const note = refused.get(toolName)
  if (note !== undefined) return { action: 'DECLINE', note }
  // A bot has nothing to say in a form, and has not done what a URL asks for.
  if (allowed.has(toolName) && takesBareYes(request)) return { action: 'ACCEPT', note: 'Allowed by rule.' }
  return null
}

async function consider(request: Request): Promise<void> {
  const verdict = request.status === 'PENDING' ? decide(request) : null
  if (!verdict) return
  const refusal = await respond(request.id, verdict)
  console.log(`${request.toolName}: ${refusal ?? verdict.action.toLowerCase()}`)
}

/** What waited before the bot came, or while it was away. */
async function considerAll(): Promise<void> {
  for (let after: string | null = null, more = true; more; ) {
    const { elicitations }: Page = await graphql<Page>(
      `query Waiting($after: String) {
        elicitations(status: [PENDING], first: 100, after: $after) {
          edges { node { ${requestFields} } }
          pageInfo { hasNextPage endCursor }
        }
      }`,
      { after },
    )
    for (const { node } of elicitations.edges) await consider(node)
    after = elicitations.pageInfo.endCursor
    more = elicitations.pageInfo.hasNextPage
  }
}
interface Page {
  elicitations: {
    edges: { node: Request }[]
    pageInfo: { hasNextPage: boolean; endCursor: string | null }
  }
}

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

await stayCurrent<{ banners: { elicitation?: Request } }>({
  async snapshot() {
    await considerAll()
    console.log('watching')
  },
  subscription: `subscription Banners($after: EventCursor) {
    banners(after: $after) { ... on ElicitationBannerRaised { elicitation { ${requestFields} } } }
  }`,
  onChange: ({ banners }) => banners.elicitation && consider(banners.elicitation),
  onLost: (reason) => console.log(`lost the server (${reason}); trying again`),
  signal: stopping.signal,
}).catch((error: unknown) => {
  if (!(error instanceof KeyError)) throw error
  console.error(error.message)
  process.exitCode = 77
})
