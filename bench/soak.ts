import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openDatabase } from '../src/database/database.ts'
import { removeDataFolder, startEmbeddedPostgres } from '../src/database/embedded.ts'
import { sql } from '../src/database/sql.ts'
import { audit } from '../test/faults/support/audit.ts'
import { chance } from '../test/faults/support/chance.ts'
import { startTraffic } from '../test/faults/support/traffic.ts'
import { freePort, startProgram } from './harness.ts'
import { residentBytes } from './house.ts'

/**
 * Two servers on one port under agents and people for as long as it is told, with a restart or a kill -9 of one of them now and
 * then. Prints what they do, and what memory and handles they take; at the end how the one that lived through it all has grown,
 * and every fault that an audit finds. Exits with 1 when there is one.
 *
 *   node bench/soak.ts [--minutes 5] [--hands 16] [--restart-seconds 30]
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    hands: { type: 'string', default: '16' },
    'restart-seconds': { type: 'string', default: '30' },
  },
})
const minutes = Number(values.minutes)
const restartMs = Number(values['restart-seconds']) * 1_000
const reportMs = 15_000
const warmMs = 75_000
const key = 'an-admin-key-for-the-soak'
const main = join(import.meta.dirname, '..', 'src', 'main.ts')

const folder = await mkdtemp(join(tmpdir(), 'holdpoint-soak-'))
const dataDir = join(folder, 'database')
const quiet = { info() {}, warn: console.warn, error: console.error }
const postgres = await startEmbeddedPostgres({ dataDir, log: quiet })
const database = openDatabase({ connectionString: postgres.connectionString, connectionsMax: 2 })
const port = await freePort()
const luck = chance()

function start(number: number) {
  const environment = {
    PORT: String(port),
    DATABASE_URL: postgres.connectionString,
    HOLDPOINT_ADMIN_KEY: key,
    HOLDPOINT_DATA_DIR: join(folder, `server-${number}`),
    HOLDPOINT_TRUST_PROXY: 'true',
  }
  return startProgram(main, environment, /is ready at/)
}

let failed = false
try {
  let started = 2
  const servers = [await start(0), await start(1)]
  const sessions = await database.query<{ id: string }>(sql`
    insert into session (id, slug, title, status, created_at, updated_at)
    select gen_random_uuid(), 'soak-' || i, 'Soak', 'running', now(), now() from generate_series(1, 50) i returning id`)
  const traffic = startTraffic({
    urls: () => [`http://127.0.0.1:${port}`],
    key,
    sessions: sessions.map(({ id }) => id),
    hands: Number(values.hands),
    chance: luck,
  })
  const delivered = () => traffic.acknowledged.delivered.size
  const begunAt = performance.now()
  let restartedAt = begunAt
  let reported = 0
  let atFirst: Held | null = null
  let atLast: Held | null = null
  while (performance.now() - begunAt < minutes * 60_000) {
    await delay(reportMs)
    const held = await Promise.all(servers.map(({ child }) => heldBy(child.pid!)))
    if (performance.now() - begunAt < warmMs) atFirst = held[0]!
    atLast = held[0]!
    const seconds = Math.round((performance.now() - begunAt) / 1_000)
    const perSecond = (delivered() - reported) / (reportMs / 1_000)
    reported = delivered()
    console.log(
      `${seconds} s: ${perSecond.toFixed(1)} round trips a second; the servers have ${held.map(shown).join(', and ')}`,
    )
    if (restartMs === 0 || performance.now() - restartedAt < restartMs) continue
    restartedAt = performance.now()
    // The first one lives through it all.
    const gone = servers.pop()!
    servers.push(await start(started++))
    const signal = luck.below(2) === 0 ? 'SIGKILL' : 'SIGTERM'
    gone.child.kill(signal)
    console.log(`${signal} for one, another is up`)
  }
  await traffic.stop()
  for (const server of servers) await server.stop()
  const faults = [...traffic.surprises, ...(await audit(database, traffic))]
  console.log(`${delivered()} round trips through ${started - 2} restarts; ${faults.length} faults`)
  console.log(`the server that stayed had ${shown(atFirst)} after a minute, and ${shown(atLast)} at the end`)
  for (const fault of faults.slice(0, 20)) console.log(fault)
  failed = faults.length > 0
} finally {
  await database.close()
  await postgres.stop()
  await removeDataFolder(dataDir)
}
process.exit(failed ? 1 : 0)

interface Held {
  megabytes: number
  handles: number
}

/** What a process has in its hands; null where the system does not tell, which only Linux does. */
async function heldBy(pid: number): Promise<Held | null> {
  const bytes = await residentBytes(pid)
  const handles = await readdir(`/proc/${pid}/fd`).catch(() => null)
  return bytes === null || handles === null
    ? null
    : { megabytes: Math.round(bytes / 2 ** 20), handles: handles.length }
}

function shown(held: Held | null): string {
  return held === null ? '?' : `${held.megabytes} MB and ${held.handles} handles`
}
