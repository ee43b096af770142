import pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { Log } from '../base/log.ts'

/**
 * Work that comes round by itself. However many servers share the database, each tick runs once, on whichever of them is first;
 * it never stacks on itself; and what became due while no server ran is done at the next start.
 */
export interface Job {
  name: string
  /** When it ticks, in UTC. */
  cron: string
  /** From one tick to the next: within this time it is queued once, by the cron or by a server that starts. */
  periodSeconds: number
  /** Does what is due now; ends early, between two steps, when the server goes away. */
  run(stopping: AbortSignal): Promise<void>
  /** How long a server that starts waits with the tick that it queues. */
  settleSeconds?: number
  /**
   * For a job that knows when it is needed next: milliseconds from now. It then runs as a chain, each run queueing the next;
   * the cron and every start only take it up again where it broke.
   */
  nextMs?(): Promise<number>
}

export interface JobRun {
  name: string
  ok: boolean
  ms: number
}

export interface Jobs {
  /** Begins to work. */
  begin(): Promise<void>
  /** Whether this server has lately asked for work of every kind. */
  isReady(): boolean
  /** For how long each job's most overdue tick has been waiting; none that wait, none listed. */
  overdueSeconds(): Promise<Map<string, number>>
  /** Lets what runs come to its next step's end, and takes no more. */
  stop(): Promise<void>
}

/** The queue's tables have a schema of their own, which pg-boss makes and migrates. */
const jobsSchema = 'pgboss'

/** The jobs have few connections, but their own: a server with all of its connections busy must still expire in time. */
const connectionsMax = 3
const connectTimeoutMs = 5_000
const statementTimeoutMs = 30_000
/** What pg-boss hands on to its pool, though its type does not say so: a database that is away without a word is noticed. */
const poolOptions = { keepAlive: true, query_timeout: statementTimeoutMs + 5_000 }
const chainPollSeconds = 0.5
const tickPollSeconds = 2
const readyWithinMs = 15_000
const stopTimeoutMs = 5_000
const errorRepeatMs = 10_000
const day = 24 * 60 * 60
/** What the links of a chain have in common: one of them waits at a time. */
const link = { singletonKey: 'link' }

/** The queue cannot be set up. The message says what to do. */
export class JobsError extends Error {
  override readonly name = 'JobsError'
}

/** Sets up the queue where that has not been done; nothing is worked on before `begin`. Throws `JobsError`. */
export async function openJobs(options: {
  connectionString: string
  jobs: Job[]
  log: Pick<Log, 'debug' | 'warn' | 'error'>
  onRun?: (run: JobRun) => void
}): Promise<Jobs> {
  const { connectionString, jobs, log, onRun } = options
  const boss = new PgBoss({
    ...poolOptions,
    connectionString,
    schema: jobsSchema,
    createSchema: await mayCreateSchema(connectionString),
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    options: `-c statement_timeout=${statementTimeoutMs}`,
    application_name: 'holdpoint jobs',
    registerInstance: false,
    openTelemetry: { enabled: false },
  })
  boss.on(
    'error',
    sayOnce((error) =>
      log.warn({ err: error }, 'the jobs have trouble with the database; they go on by themselves'),
    ),
  )
  boss.on('warning', (warning) => log.warn({ warning }, 'the jobs have something to say'))
  const stopping = new AbortController()
  try {
    await boss.start()
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => {})
    throw explained(error)
  }

  return {
    async begin() {
      for (const job of jobs) await begin(boss, job, stopping.signal, log, onRun)
    },
    isReady() {
      const workers = boss.getWipData()
      const since = Date.now() - readyWithinMs
      return jobs.every(({ name }) =>
        workers.some(
          (worker) => worker.name === name && (worker.count > 0 || (worker.lastFetchedOn ?? 0) > since),
        ),
      )
    },
    async overdueSeconds() {
      const { rows } = await boss.getDb().executeSql(
        `select name, extract(epoch from now() - min(start_after))::float8 as seconds from ${jobsSchema}.job
         where name = any($1) and state < 'active' and start_after < now() group by name`,
        [jobs.map(({ name }) => name)],
      )
      return new Map(rows.map(({ name, seconds }) => [name, seconds]))
    },
    async stop() {
      stopping.abort()
      await boss.stop({ graceful: true, timeout: stopTimeoutMs })
    },
  }
}

async function begin(
  boss: PgBoss,
  job: Job,
  stopping: AbortSignal,
  log: Pick<Log, 'debug' | 'error'>,
  onRun?: (run: JobRun) => void,
): Promise<void> {
  const { name, cron, periodSeconds } = job
  const isChain = job.nextMs !== undefined
  const options = {
    // What a server that was killed had in hand is taken for lost after this.
    expireInSeconds: isChain ? 60 : 240,
    // A run that failed is made up for by the next one.
    retryLimit: 0,
    retentionSeconds: day,
    deleteAfterSeconds: Math.max(10 * 60, 2 * periodSeconds),
  }
  // A chain has one link queued. A tick is dropped while one waits already, and waits while one runs.
  await boss.createQueue(name, { ...options, policy: isChain ? 'short' : 'stately' })
  // Where the queue was made by an earlier version.
  await boss.updateQueue(name, options)
  const once = isChain ? link : { singletonSeconds: periodSeconds }

  await boss.work(
    name,
    { pollingIntervalSeconds: isChain ? chainPollSeconds : tickPollSeconds },
    async () => {
      const startedAt = performance.now()
      let ok = false
      try {
        // The next link is tied before this one pulls: whatever becomes of this run, or of its server, the chain holds.
        if (job.nextMs)
          await boss.send(name, null, { ...link, startAfter: Math.max(await job.nextMs(), 1) / 1_000 })
        await job.run(stopping)
        ok = true
      } catch (error) {
        log.error({ err: error, job: name }, 'a job failed; it runs again at its next tick')
        throw error
      } finally {
        const ms = performance.now() - startedAt
        log.debug({ job: name, ok, ms: Math.round(ms) }, 'a job ran')
        onRun?.({ name, ok, ms })
      }
    },
  )
  await boss.schedule(name, cron, null, once)
  // A link that waits already is pulled here: the server that tied it may have gone away before its work was done.
  if (isChain) await boss.upsert(name, null, { ...link, startAfter: 0 })
  else await boss.send(name, null, job.settleSeconds ? { ...once, startAfter: job.settleSeconds } : once)
}

/**
 * Whether pg-boss should make its schema. PostgreSQL asks for the right to make one even where it exists, which a user who
 * owns just that schema does not have.
 */
async function mayCreateSchema(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: connectTimeoutMs })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<{ exists: boolean; may: boolean; user: string; database: string }>(
      `select to_regnamespace($1) is not null as exists, has_database_privilege(current_database(), 'create') as may,
         current_user as user, current_database() as database`,
      [jobsSchema],
    )
    const { exists, may, user, database } = rows[0]!
    if (!exists && !may)
      throw new JobsError(
        `The jobs need a schema "${jobsSchema}" in the database "${database}", which "${user}" may not make. ` +
          `Let an administrator run: create schema ${jobsSchema} authorization "${user}"`,
      )
    return !exists
  } finally {
    await client.end()
  }
}

function explained(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError) || error.code !== '42501') return error
  return new JobsError(
    `The user of DATABASE_URL may not set up the job queue: ${error.message}. It has to own the schema "${jobsSchema}" and all that is in it.`,
    { cause: error },
  )
}

/** Every worker reports every failed look, twice a second while the database is away; one line in a while says as much. */
function sayOnce(say: (error: Error) => void): (error: Error) => void {
  let quietUntil = 0
  return (error) => {
    const now = performance.now()
    if (now < quietUntil) return
    quietUntil = now + errorRepeatMs
    say(error)
  }
}
