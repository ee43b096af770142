import { isUuid } from '../base/ids.ts'
import type { Limits } from '../base/limits.ts'
import type { Queryable } from '../database/database.ts'
import type { Elicitation } from '../database/generated/prisma/client.ts'
import { readTogether } from '../database/read-together.ts'
import { sql } from '../database/sql.ts'
import type { Journal } from '../events/journal.ts'

export type { Elicitation }

/** What the commands on elicitations need from the house. */
export interface Desk {
  journal: Journal
  requests: Requests
  /** The deadline of a request that names none. */
  defaultExpirationMs: number
  limits: Pick<Limits, 'pendingPerAddress' | 'pendingPerToken'>
  /** Keys the withdraw tokens; the same on every server process of a database. */
  secret: string
}

/**
 * Request ids as MCP servers choose them. Anything else is unknown, or refused where one is created. A lone `.` or `..` is
 * a folder in a path: clients resolve it away, so such a request could never be polled.
 */
export const requestIdPattern = /^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,200}$/

export async function findByRequestId(on: Queryable, requestId: string): Promise<Elicitation | null> {
  if (!requestIdPattern.test(requestId)) return null
  const [row] = await on.query<Elicitation>(sql`select * from elicitation where request_id = ${requestId}`)
  return row ?? null
}

export async function findById(on: Queryable, id: string): Promise<Elicitation | null> {
  if (!isUuid(id)) return null
  const [row] = await on.query<Elicitation>(sql`select * from elicitation where id = ${id}`)
  return row ?? null
}

/** Looks requests up for whoever comes from outside; what comes at the same time is read together. */
export interface Requests {
  byId(id: string): Promise<Elicitation | null>
  byRequestId(requestId: string): Promise<Elicitation | null>
  /** By the request id, or else by our own id. */
  byEither(reference: string): Promise<Elicitation | null>
}

export function createRequests(on: Queryable): Requests {
  const readById = readTogether(async (ids) => {
    const rows = await on.query<Elicitation>(sql`select * from elicitation where id = any(${ids}::uuid[])`)
    return new Map(rows.map((row) => [row.id, row]))
  })
  const readByRequestId = readTogether(async (ids) => {
    const rows = await on.query<Elicitation>(
      sql`select * from elicitation where request_id = any(${ids}::text[])`,
    )
    return new Map(rows.map((row) => [row.requestId, row]))
  })
  const byId = async (id: string) => (isUuid(id) ? readById(id.toLowerCase()) : null)
  const byRequestId = async (id: string) => (requestIdPattern.test(id) ? readByRequestId(id) : null)
  return {
    byId,
    byRequestId,
    byEither: async (reference) => (await byRequestId(reference)) ?? (await byId(reference)),
  }
}
