import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { removeDataFolder, startEmbeddedPostgres } from '../src/database/embedded.ts'
import { freePort, interleaved, load, median, type Ratio, startProgram } from './harness.ts'

/**
 * Every figure is a ratio against its floor in the same run. `npm run bench` prints the table and writes bench/results.json.
 */
const rounds = 7
const connections = 32
const adminKey = 'an-admin-key-for-the-bench'
const main = join(import.meta.dirname, '..', 'src', 'main.ts')

const folder = await mkdtemp(join(tmpdir(), 'holdpoint-bench-'))
const dataDir = join(folder, 'database')
const quiet = { info() {}, warn: console.warn, error: console.error }
const postgres = await startEmbeddedPostgres({ dataDir, log: quiet })
const ratios: Ratio[] = []
try {
  const ourPort = await freePort()
  const floorPort = await freePort()
  const ours = await startProgram(
    main,
    {
      PORT: String(ourPort),
      DATABASE_URL: postgres.connectionString,
      HOLDPOINT_ADMIN_KEY: adminKey,
      HOLDPOINT_DATA_DIR: join(folder, 'data'),
      // Lets the load come from as many addresses as it says: each address is limited by itself.
      HOLDPOINT_TRUST_PROXY: '127.0.0.1',
    },
    /is ready at/,
  )
  const floor = await startProgram(
    join(import.meta.dirname, 'floor.ts'),
    { PORT: String(floorPort), DATABASE_URL: postgres.connectionString },
    /ready/,
  )
  try {
    const sessions = await seedSessions(postgres.connectionString, 2_000)
    const requestIds = await seedElicitations(postgres.connectionString, sessions)
    const get = (path: (i: number) => string) => (i: number) =>
      `GET ${path(i)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
    const poll = get((i) => `/api/v1/elicitations/${requestIds[i % requestIds.length]}?wait=0`)
    const polls = (port: number) => async () =>
      perSecond(await load({ port, requests: 10_000, connections, request: poll }))
    ratios.push(
      await interleaved(
        'poll of a pending request, not held',
        'at least 0.8',
        rounds,
        polls(ourPort),
        polls(floorPort),
      ),
    )

    let serial = 0
    // Each creation comes to a session of its own, as those of different agents do, and from an address of its own limit.
    const create = (i: number) => {
      const body = JSON.stringify({
        mode: 'form',
        message: 'Delete the tenant acme? This cannot be undone.',
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'boolean', title: 'Delete it?' } },
          required: ['confirm'],
        },
        _meta: {
          'com.pulsemcp/request-id': `bench-${serial++}`,
          'com.pulsemcp/session-id': sessions[i % sessions.length],
          'com.pulsemcp/tool-name': 'delete_tenant',
        },
      })
      return `POST /api/v1/elicitations HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-Forwarded-For: 10.${(serial >> 14) & 255}.${(serial >> 6) & 255}.${serial & 63}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
    }
    const creations = (port: number) => async () =>
      perSecond(await load({ port, requests: 2_000, connections, request: create }))
    ratios.push(await interleaved('create', 'at least 0.5', rounds, creations(ourPort), creations(floorPort)))
  } finally {
    await ours.stop()
    await floor.stop()
  }
} finally {
  await postgres.stop()
}

const starts: Record<string, number[]> = { first: [], later: [] }
for (let i = 0; i < 3; i++) {
  const data = join(folder, `start-${i}`)
  for (const which of ['first', 'later']) {
    const begun = performance.now()
    const program = await startProgram(
      main,
      { PORT: String(await freePort()), HOLDPOINT_DATA_DIR: data },
      /is ready at/,
    )
    starts[which]!.push(performance.now() - begun)
    await program.stop()
  }
  await removeDataFolder(data)
}
await removeDataFolder(dataDir)
await rm(folder, { recursive: true, force: true })

console.table(
  ratios.map(({ name, ratio, spread, ours, floor, unit, goal }) => ({
    what: name,
    ratio: ratio.toFixed(2),
    spread: spread.map((each) => each.toFixed(2)).join(' to '),
    ours: `${Math.round(ours)} ${unit}`,
    floor: `${Math.round(floor)} ${unit}`,
    goal,
  })),
)
console.table([
  { start: 'first, from nothing', median: `${Math.round(median(starts.first!))} ms`, goal: '5,000 ms' },
  { start: 'later', median: `${Math.round(median(starts.later!))} ms`, goal: '2,000 ms' },
])
await writeFile(join(import.meta.dirname, 'results.json'), `${JSON.stringify({ ratios, starts }, null, 2)}\n`)

function perSecond({ perSecond, failures }: { perSecond: number; failures: number }): number {
  if (failures > 0) throw new Error(`${failures} requests failed`)
  return perSecond
}

async function seedSessions(connectionString: string, count: number): Promise<string[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query<{ id: string }>(
    `insert into session (id, slug, title, status, created_at, updated_at)
     select gen_random_uuid(), 'bench-' || i, 'Bench ' || i, 'running', now(), now() from generate_series(1, $1) i returning id`,
    [count],
  )
  await client.end()
  return rows.map(({ id }) => id)
}

async function seedElicitations(connectionString: string, sessions: string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query<{ requestId: string }>(
    `insert into elicitation (id, request_id, session_id, message, caller_address, expires_at, created_at)
     select gen_random_uuid(), 'seed-' || row_number() over (), s, 'Go?', '192.0.2.1', now() + interval '1 hour', now()
     from unnest($1::uuid[]) s returning request_id as "requestId"`,
    [sessions],
  )
  await client.end()
  return rows.map(({ requestId }) => requestId)
}
