import type { Duplex } from 'node:stream'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { PrismaClient } from './generated/prisma/client.ts'
import { type Statement, sql } from './sql.ts'

/**
 * What runs statements: the pool, or one transaction. A transaction sends what it is given at once and in order, without
 * waiting for what came before: statements that need not know each other's results share a round trip, and one whose result
 * nobody waits for still fails the transaction when it fails.
 */
export interface Queryable {
  query<Row extends object>(statement: Statement): Promise<Row[]>
}

/**
 * One pool, and two ways to use it: Prisma for reads that follow a GraphQL selection and for tables that see little
 * traffic, plain statements where a row lock, a conditional update or the speed of one statement is the point.
 */
export interface Database extends Queryable {
  readonly pool: pg.Pool
  readonly prisma: PrismaClient
  /** Commits what `work` did, or nothing if it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export interface DatabaseOptions {
  connectionString: string
  connectionsMax?: number
  onError?: (error: Error) => void
}

const connectTimeoutMs = 5_000
/** Nothing of ours takes this long; what does is cut, so that its locks do not outlive it. */
const statementTimeoutMs = 30_000
const idleInTransactionTimeoutMs = 15_000
/** A server that does not even cut a statement any more is one that is away without saying so. */
const answerTimeoutMs = statementTimeoutMs + 5_000

export function openDatabase({ connectionString, connectionsMax = 20, onError }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString,
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: answerTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    application_name: 'holdpoint',
    keepAlive: true,
    pipeline: true,
  })
  // An idle connection that dies is replaced at the next use; without a listener it would end the process.
  pool.on('error', (error) => onError?.(error))
  // So would one that dies in the moment between being handed out and being listened to; who uses it finds out by its statement.
  pool.on('connect', (client) => client.on('error', () => {}))
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool),
    transactionOptions: { maxWait: 10_000, timeout: 20_000 },
  })
  return {
    pool,
    prisma,
    query: (statement) => run(pool, statement),
    async transaction(work) {
      const client = await pool.connect()
      let broken: Error | undefined
      // A connection that dies between two statements reports here; the next statement fails by itself.
      const onClientError = (error: Error) => {
        broken = error
      }
      client.on('error', onClientError)
      const sent: Promise<unknown>[] = []
      const noted = <Result>(result: Promise<Result>): Promise<Result> => {
        // Whether or not anybody waits for it, a failure is found among what was sent.
        result.catch(() => {})
        sent.push(result)
        return result
      }
      let begun = false
      let waits = false
      const send = <Row extends object>(statement: Statement): Promise<Row[]> => {
        const sendNow = () => {
          writeTogether(client)
          return run<Row>(client, statement)
        }
        waits ||= !begun && !isHarmless(statement)
        return noted(begun || !waits ? sendNow() : beginning.then(sendNow))
      }
      writeTogether(client)
      const beginning = noted(client.query(begin))
      beginning.then(
        () => (begun = true),
        () => (waits = true),
      )
      try {
        const result = await work({ query: send })
        send(commit)
        await Promise.all(sent)
        return result
      } catch (error) {
        await client.query('rollback').catch((failure: Error) => {
          broken ??= failure
        })
        // What failed first is the cause: after it every statement is refused.
        const first = (await Promise.allSettled(sent)).find((each) => each.status === 'rejected')
        throw first?.reason ?? error
      } finally {
        client.off('error', onClientError)
        client.release(broken)
      }
    },
    async close() {
      await prisma.$disconnect()
      await pool.end()
    },
  }
}

/**
 * The statements of a transaction find their rows by an index, however many they are. Planned once they are right for all, and
 * for the tables as they will have grown. Left to itself PostgreSQL plans most of them anew each time, which costs as much as to
 * carry them out.
 */
const begin =
  'begin; set local plan_cache_mode = force_generic_plan; set local enable_seqscan = off; set local jit = off'
const commit = sql`commit`

/**
 * Whether a statement may leave together with the begin. What writes may not: were the begin to fail, it would stay written, by
 * itself.
 */
function isHarmless({ text }: Statement): boolean {
  return /^\s*(select|commit)\b/.test(text)
}

/** What is sent in one turn leaves in one write: each write costs more than the statement in it. */
function writeTogether(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection
  stream.cork()
  process.nextTick(() => stream.uncork())
}

/** The pool's own types, but for counters: int8 becomes a bigint. */
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return oid === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(oid, format as 'text')
  },
} as pg.CustomTypesConfig

async function run<Row extends object>(
  on: pg.Pool | pg.PoolClient,
  { text, values, name }: Statement,
): Promise<Row[]> {
  const result = await on.query({ text, values, name, types, rowMode: 'array' })
  const names = result.fields.map((field) => camelCased(field.name))
  return result.rows.map((row: unknown[]) => {
    const object: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) object[names[i]!] = row[i]
    return object as Row
  })
}

const camelNames = new Map<string, string>()

/** Columns are snake_case, rows are what Prisma's types say. Only our own column names come here, so the map is bounded. */
function camelCased(column: string): string {
  let name = camelNames.get(column)
  if (name === undefined) {
    name = column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    camelNames.set(column, name)
  }
  return name
}
