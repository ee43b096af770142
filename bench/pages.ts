import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure } from './figure.ts'
import { freePort, interleaved, perSecond, startProgram } from './harness.ts'
import { adminKey, type House, httpRequest, nextFirstPage, seedPending, seedSessions } from './house.ts'

const rounds = 7
const connections = 16
const requestsARound = 500
const peerFolder = join(import.meta.dirname, 'peer')

interface Page {
  what: string
  goal: Figure['goal']
  ours: string
  peer: string
  variables?: () => object
}

const waiting = 'id requestId message toolName expiresAt'
const peerQueue = `{ allSessions(first: 50, condition: {status: needs_input}, orderBy: PRIMARY_KEY_ASC) { totalCount edges { node {
  id slug title status needsInputSince elicitationsBySessionId(condition: {status: pending}) { nodes { ${waiting} } } } } } }`

const pages: Page[] = [
  {
    what: 'the attention queue, 50 sessions',
    goal: { atLeast: 1.5 },
    ours: `{ attentionQueue(first: 50) { totalCount edges { node { id slug title status needsInputSince
      pendingElicitations { ${waiting} } } } } }`,
    peer: peerQueue,
  },
  {
    what: 'a page of 50 sessions with what is pending',
    goal: { atLeast: 1.5 },
    ours: `{ sessions(first: 50) { totalCount edges { node { id slug title status createdAt
      pendingElicitations { ${waiting} } } } } }`,
    peer: `{ allSessions(first: 50, orderBy: PRIMARY_KEY_DESC) { totalCount edges { node { id slug title status createdAt
      elicitationsBySessionId(condition: {status: pending}) { nodes { ${waiting} } } } } } }`,
  },
  {
    what: 'the attention queue when no two ask for the same',
    goal: null,
    ours: `query($after: String) { attentionQueue(first: 50, after: $after) { totalCount edges { node { id slug title status needsInputSince
      pendingElicitations { ${waiting} } } } } }`,
    peer: peerQueue,
    variables: nextFirstPage,
  },
]

/** The pages of a dashboard over GraphQL, against PostGraphile on the same tables with the same data. */
export async function measurePages(house: House): Promise<Figure[]> {
  // It wants another version of graphql than ours, so it lives in a folder of its own.
  if (!existsSync(join(peerFolder, 'node_modules')))
    execFileSync('npm', ['ci', '--ignore-scripts', '--silent'], {
      cwd: peerFolder,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    })
  await seedPending(house, await seedSessions(house, 200))
  await house.seed('analyze')
  const port = await freePort()
  const peer = await startProgram(
    join(peerFolder, 'server.js'),
    {
      PORT: String(port),
      DATABASE_URL: house.connectionString,
      NODE_ENV: 'production',
      GRAPHILE_ENV: 'production',
    },
    /ready/,
  )
  try {
    const figures: Figure[] = []
    for (const { what, goal, ours, peer, variables = () => ({}) } of pages) {
      const ask = (toPort: number, query: string, variables: () => object) => () =>
        perSecond({
          port: toPort,
          requests: requestsARound,
          connections,
          request: () =>
            httpRequest('POST', '/graphql', {
              headers: { 'X-API-Key': adminKey },
              body: { query, variables: variables() },
            }),
        })
      const [mine, theirs] = await Promise.all([
        size(house.ours.port, ours, variables()),
        size(port, peer, {}),
      ])
      if (mine !== 50 || theirs !== 50) throw new Error(`${what}: pages of ${mine} and ${theirs} sessions`)
      figures.push(
        await interleaved(
          what,
          goal,
          rounds,
          ask(house.ours.port, ours, variables),
          ask(port, peer, () => ({})),
        ),
      )
    }
    return figures
  } finally {
    await peer.stop()
  }
}

/** How many sessions the answer has: both must do the same work. */
async function size(port: number, query: string, variables: object): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': adminKey },
    body: JSON.stringify({ query, variables }),
  })
  const { data, errors } = (await response.json()) as {
    data?: Record<string, { edges: unknown[] }>
    errors?: unknown
  }
  if (!data || errors) throw new Error(JSON.stringify(errors))
  return Object.values(data)[0]!.edges.length
}
