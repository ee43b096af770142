import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHttp } from '../../src/http.ts'
import type { Jobs } from '../../src/jobs/boss.ts'
import { registerHealth } from '../../src/ops/health.ts'

let database: { query: () => Promise<never[]> }
let jobsReady: boolean
let draining: boolean
let http: ReturnType<typeof createHttp>
beforeEach(() => {
  database = { query: async () => [] }
  jobsReady = true
  draining = false
  http = createHttp({ log: pino({ level: 'silent' }), trustProxy: false })
  const jobs = { isReady: () => jobsReady } as Jobs
  registerHealth(http, { database: { query: () => database.query() }, jobs, isDraining: () => draining })
})
afterEach(() => http.close())

const get = async (url: string) => {
  const { statusCode, body } = await http.inject(url)
  return { status: statusCode, body: JSON.parse(body) }
}

describe('/readyz', () => {
  it('is 200 when the database answers and the jobs run', async () => {
    expect(await get('/readyz')).toEqual({
      status: 200,
      body: { ready: true, database: 'ok', jobs: 'ok', draining: false },
    })
  })

  it('is 503 when the database refuses', async () => {
    database.query = () => Promise.reject(new Error('gone'))
    expect(await get('/readyz')).toMatchObject({
      status: 503,
      body: { ready: false, database: 'does not answer' },
    })
  })

  it('is 503 within seconds when the database says nothing at all, and asks it once however often it is asked itself', async () => {
    let asked = 0
    database.query = () => {
      asked++
      return new Promise(() => {})
    }
    const answers = await Promise.all([get('/readyz'), get('/readyz'), get('/readyz')])
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    expect(asked).toBe(1)
  })

  it('is 503 while the jobs do not run', async () => {
    jobsReady = false
    expect(await get('/readyz')).toMatchObject({ status: 503, body: { ready: false, database: 'ok' } })
  })

  it('is 503 from the moment the server goes away', async () => {
    draining = true
    expect(await get('/readyz')).toMatchObject({ status: 503, body: { ready: false, draining: true } })
  })
})

it('/livez is 200 whatever is wrong elsewhere', async () => {
  database.query = () => Promise.reject(new Error('gone'))
  jobsReady = false
  draining = true
  expect(await get('/livez')).toEqual({ status: 200, body: { alive: true } })
})
