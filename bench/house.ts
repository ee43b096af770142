import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { removeDataFolder, startEmbeddedPostgres } from '../src/database/embedded.ts'
import { freePort, startProgram } from './harness.ts'

export const adminKey = 'an-admin-key-for-the-bench'
const main = join(import.meta.dirname, '..', 'src', 'main.ts')

/** A server of ours and the floor's, on one database. */
export interface House extends AsyncDisposable {
  connectionString: string
  ours: Server
  floor: Server
  /** Runs statements that no measurement counts. */
  seed<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
}

export interface Server {
  port: number
  pid: number
}

export async function openHouse(): Promise<House> {
  const ending = new AsyncDisposableStack()
  try {
    const folder = await mkdtemp(join(tmpdir(), 'holdpoint-bench-'))
    ending.defer(() => rm(folder, { recursive: true, force: true }))
    const dataDir = join(folder, 'database')
    const log = { info() {}, warn: console.warn, error: console.error }
    const postgres = await startEmbeddedPostgres({ dataDir, log })
    ending.defer(async () => {
      await postgres.stop()
      await removeDataFolder(dataDir)
    })
    const { connectionString } = postgres
    const start = async (path: string, environment: Record<string, string>, ready: RegExp) => {
      const port = await freePort()
      const program = await startProgram(
        path,
        { PORT: String(port), DATABASE_URL: connectionString, ...environment },
        ready,
      )
      ending.defer(() => program.stop())
      return { port, pid: program.child.pid! }
    }
    const ours = await start(
      main,
      {
        HOLDPOINT_ADMIN_KEY: adminKey,
        HOLDPOINT_DATA_DIR: join(folder, 'data'),
        // Lets the load come from as many addresses as it says: each address is limited by itself.
        HOLDPOINT_TRUST_PROXY: '127.0.0.1',
      },
      /is ready at/,
    )
    const floor = await start(join(import.meta.dirname, 'floor.ts'), {}, /ready/)
    const client = new pg.Client({ connectionString })
    await client.connect()
    ending.defer(() => client.end())
    const stack = ending.move()
    return {
      connectionString,
      ours,
      floor,
      seed: async (text, values = []) => (await client.query(text, values)).rows,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  } catch (error) {
    await ending.disposeAsync()
    throw error
  }
}

/** So many sessions, all running. */
export async function seedSessions({ seed }: House, count: number): Promise<string[]> {
  const rows = await seed<{ id: string }>(
    `insert into session (id, slug, title, status, created_at, updated_at)
     select id, 'bench-' || id, 'Bench ' || i, 'running', now(), now()
     from (select uuidv7() as id, i from generate_series(1, $1) i) made returning id`,
    [count],
  )
  return rows.map(({ id }) => id)
}

/** A pending request in each of the sessions, which are blocked by it. */
export async function seedPending({ seed }: House, sessions: string[]): Promise<string[]> {
  await seed(
    `update session set status = 'needs_input', blocked_on_elicitation = true, needs_input_since = now() where id = any($1::uuid[])`,
    [sessions],
  )
  const rows = await seed<{ requestId: string }>(
    `insert into elicitation (id, request_id, session_id, message, tool_name, requested_schema, caller_address, expires_at, created_at)
     select uuidv7(), 'seed-' || gen_random_uuid(), s, 'Delete the tenant acme? This cannot be undone.', 'delete_tenant',
       '{"type":"object","properties":{"confirm":{"type":"boolean","title":"Delete it?"}},"required":["confirm"]}',
       '192.0.2.1', now() + interval '1 hour', now()
     from unnest($1::uuid[]) s returning request_id as "requestId"`,
    [sessions],
  )
  return rows.map(({ requestId }) => requestId)
}

/** The text of an HTTP request as a program would send it. */
export function httpRequest(
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const lines = Object.entries({
    Host: '127.0.0.1',
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

let addresses = 0
/** A network address that no request came from yet. */
export function nextAddress(): string {
  addresses++
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
}

/**
 * The variables of a page of the queue, each time others and always the first page: what is asked for alike at the same time would
 * be read once for all.
 */
export function nextFirstPage(): { after: string } {
  pages++
  return { after: `${pages}__00000000-0000-0000-0000-000000000000` }
}
let pages = 0

/** The resident memory of a process in bytes; null where the system does not tell. */
export async function residentBytes(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(status)?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) * 1_024
}
