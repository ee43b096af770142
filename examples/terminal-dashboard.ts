import {
  graphql,
  KeyError,
  type Question,
  questionFields,
  respond,
  stayCurrent,
  takesBareYes,
  url,
  type Verdict,
} from './client.ts'

/**
 * The queue in a terminal, live, and answered by key. Needs Node 24, which `npm ci` brought:
 *
 *   npx node examples/terminal-dashboard.ts
 *
 * with a key of the role responder in HOLDPOINT_API_KEY. No single key answers: `a`, `d` and `x` ask back, and `y` sends it.
 */
interface Request extends Question {
  id: string
  summary: string
  expiresAt: string
  listening: 'LISTENING' | 'SILENT' | 'NOT_YET'
}
interface Session {
  id: string
  title: string
  pendingElicitations: Request[]
}
const sessionFields = `id title pendingElicitations { id summary expiresAt listening ${questionFields} }`

interface Change {
  needsInput: { kind: 'ENTERED' | 'LEFT' | 'UPDATED'; queueSize: number; session: Session }
}

const listeningText = {
  LISTENING: 'its server waits for the answer',
  SILENT: 'its server has stopped asking',
  NOT_YET: 'its server has not asked for the answer yet',
}
const keysText = '↑ ↓ choose   a accept   d decline   x dismiss   q quit'
const actionOfKey: Record<string, Verdict['action']> = { a: 'ACCEPT', d: 'DECLINE', x: 'CANCEL' }
const widthMax = 100

let sessions = new Map<string, Session>()
let queueSize = 0
/** By id, so that what arrives or leaves moves nobody's choice to something else. */
let chosen: string | null = null
/** What `y` would send. */
let asked: { id: string; action: Verdict['action'] } | null = null
let said = 'connecting …'

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

const { stdin, stdout } = process
if (stdin.isTTY) stdin.setRawMode(true)
stdin.setEncoding('utf8').on('data', (text: string) => {
  for (const key of text.match(/\u001b\[[AB]|./gsu) ?? []) void press(key)
})
if (stdout.isTTY) stdout.write('\u001b[?1049h')
const ticking = stdout.isTTY ? setInterval(draw, 1_000) : undefined

try {
  await stayCurrent<Change>({
    async snapshot() {
      const { attentionQueue } = await graphql<{
        attentionQueue: { totalCount: number; edges: { node: Session }[] }
      }>(`{ attentionQueue(first: 100) { totalCount edges { node { ${sessionFields} } } } }`)
      sessions = new Map(attentionQueue.edges.map(({ node }) => [node.id, node]))
      queueSize = attentionQueue.totalCount
      said = ''
      draw()
    },
    subscription: `subscription Queue($after: EventCursor) {
      needsInput(after: $after) { kind queueSize session { ${sessionFields} } } }`,
    onChange({ needsInput: { kind, session, ...change } }) {
      if (kind === 'LEFT') sessions.delete(session.id)
      else sessions.set(session.id, session)
      queueSize = change.queueSize
      draw()
    },
    onLost(reason) {
      said = `lost the server (${reason}); trying again`
      draw()
    },
    signal: stopping.signal,
  })
} catch (error) {
  if (!(error instanceof KeyError)) throw error
  process.exitCode = 77
  said = error.message
} finally {
  clearInterval(ticking)
  if (stdout.isTTY) stdout.write('\u001b[?1049l')
  if (stdin.isTTY) stdin.setRawMode(false)
  stdin.destroy()
  if (process.exitCode) console.error(said)
}

async function press(key: string): Promise<void> {
  const requests = waiting()
  const at = requests.findIndex(({ id }) => id === chosen)
  const request = requests[at]
  const confirmed = key === 'y' ? asked : null
  asked = null
  said = ''
  if (key === 'q' || key === '\u0003') return stopping.abort()
  if (key === '\u001b[B') chosen = requests[Math.min(at + 1, requests.length - 1)]?.id ?? null
  if (key === '\u001b[A') chosen = requests[Math.max(at - 1, 0)]?.id ?? null
  const action = Object.hasOwn(actionOfKey, key) ? actionOfKey[key] : undefined
  if (request && action === 'ACCEPT' && !takesBareYes(request))
    said = `this one wants more than a yes: ${url}/sessions/${request.session.id}`
  else if (request && action) asked = { id: request.id, action }
  if (confirmed) {
    said = 'sending …'
    const refusal = await respond(confirmed.id, { action: confirmed.action }).catch(
      (error: Error) => error.message,
    )
    said = refusal ?? `sent: ${confirmed.action.toLowerCase()}`
  }
  draw()
}

/** Whose time runs out first comes first. */
function waiting(): (Request & { session: Session })[] {
  return [...sessions.values()]
    .flatMap((session) => session.pendingElicitations.map((request) => ({ ...request, session })))
    .sort((a, b) => (a.expiresAt < b.expiresAt ? -1 : 1))
}

/** A terminal gets the whole page again, anything else the page as text. */
function draw(): void {
  const requests = waiting()
  if (!requests.some(({ id }) => id === chosen)) chosen = requests[0]?.id ?? null
  if (!requests.some(({ id }) => id === asked?.id)) asked = null
  const ended = [...sessions.values()].filter(({ pendingElicitations }) => pendingElicitations.length === 0)
  const lines = [
    `Holdpoint at ${url}: ${queueSize === 0 ? 'nothing needs you' : `${queueSize} need you`}`,
    '',
    ...requests.flatMap(({ id, summary, session, expiresAt, listening }) => [
      `${id === chosen ? '>' : ' '} ${oneLine(summary)}`,
      `    ${oneLine(session.title)} · expires in ${timeLeft(expiresAt)} · ${listeningText[listening]}`,
    ]),
    ...ended.map(({ title }) => `  ${oneLine(title)}: its turn has ended`),
    '',
    asked ? `${asked.action.toLowerCase()}? y sends it, any other key does not` : said || keysText,
  ]
  stdout.write(stdout.isTTY ? `\u001b[H\u001b[J${lines.join('\r\n')}` : `${lines.join('\n')}\n---\n`)
}

/** Holdpoint has made control characters visible; line breaks are all that is left to take care of. */
function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > widthMax ? `${line.slice(0, widthMax - 1)}…` : line
}

function timeLeft(expiresAt: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(expiresAt) - Date.now()) / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
