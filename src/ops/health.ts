import type { FastifyInstance } from 'fastify'
import type { Queryable } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { Jobs } from '../jobs/boss.ts'

const databaseAnswersWithinMs = 2_000

/**
 * `/livez`: the process runs. `/readyz`: it can do its work, 503 with what is wrong when it cannot; a server that goes away is
 * not ready, so that nothing new is sent to it.
 */
export function registerHealth(
  http: FastifyInstance,
  { database, jobs, isDraining }: { database: Queryable; jobs: Jobs; isDraining: () => boolean },
): void {
  let asking: Promise<boolean> | null = null
  // However often it is asked, one question at a time goes to the database.
  function databaseAnswers(): Promise<boolean> {
    asking ??= answersInTime(database).finally(() => {
      asking = null
    })
    return asking
  }

  http.get('/livez', async (_, reply) => {
    reply.header('Cache-Control', 'no-store')
    return { alive: true }
  })
  http.get('/readyz', async (_, reply) => {
    const draining = isDraining()
    const databaseOk = await databaseAnswers()
    const jobsOk = jobs.isReady()
    const ready = databaseOk && jobsOk && !draining
    reply.header('Cache-Control', 'no-store').code(ready ? 200 : 503)
    return {
      ready,
      database: databaseOk ? 'ok' : 'does not answer',
      jobs: jobsOk ? 'ok' : 'are not run by this server at present',
      draining,
    }
  })
}

async function answersInTime(database: Queryable): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, databaseAnswersWithinMs, false)
  })
  const answered = database.query(sql`select 1 as one`).then(
    () => true,
    () => false,
  )
  return Promise.race([answered, late]).finally(() => clearTimeout(timer))
}
