import type { Queryable } from '../database/database.ts'
import { sql } from '../database/sql.ts'
import type { Journal } from '../events/journal.ts'
import { whileUnanswered } from '../session/process.ts'

const batchSize = 500

/**
 * Erases what was said in requests that were resolved before `before`: question, form, answer, note, who called, and the same
 * in their timeline and in what their session kept of them. That they were asked, by which tool, when, and how they ended
 * stays, so that every count stays what it was.
 * @returns how many requests it erased.
 */
export async function eraseResolved(journal: Journal, before: Date, stopping?: AbortSignal): Promise<number> {
  let erased = 0
  while (!stopping?.aborted) {
    const count = await journal.database.transaction(async (tx) => {
      const requests = await tx.query<{ id: string; sessionId: string; requestId: string }>(sql`
        update elicitation set message = '', requested_schema = '{}', meta = '{}', context = null, url = null, content = null,
          note = null, caller_address = null, erased_at = ${journal.now()}
        where id in (
          select id from elicitation where status <> 'pending' and erased_at is null and responded_at < ${before}
          order by responded_at limit ${batchSize} for update skip locked)
        returning id, session_id, request_id`)
      if (requests.length === 0) return 0
      const ids = requests.map(({ id }) => id)
      const sessionIds = requests.map(({ sessionId }) => sessionId)
      const requestIds = requests.map(({ requestId }) => requestId)
      await tx.query(sql`
        update event set data = json_strip_nulls(json_build_object('status', data->'status', 'cause', data->'cause',
          'surface', data->'surface', 'needsInputReason', data->'needsInputReason'))
        where elicitation_id = any(${ids}::uuid[])`)
      await tx.query(sql`
        update event set data = json_strip_nulls(json_build_object('reason', data->'reason',
          'needsInputReason', data->'needsInputReason'))
        where session_id = any(${sessionIds}::uuid[]) and type = 'session.lost_recorded'
          and data->>'requestId' = any(${requestIds})`)
      await tx.query(sql`
        update session set lost_summary = null
        where id = any(${sessionIds}::uuid[]) and lost_request_id = any(${requestIds})`)
      await eraseFailures(tx, sessionIds, requestIds)
      return requests.length
    })
    if (count === 0) break
    erased += count
  }
  return erased
}

/** The reason of a failure may quote the request that nobody answered, as `failureOf` words it: the quotation goes. */
async function eraseFailures(tx: Queryable, sessionIds: string[], requestIds: string[]): Promise<void> {
  const quotation = `${whileUnanswered}: .*`
  const rest = `${whileUnanswered}.`
  const quotedId = '\\(([^()]*)\\)$'
  await tx.query(sql`
    update session set failure_reason = regexp_replace(failure_reason, ${quotation}, ${rest})
    where id = any(${sessionIds}::uuid[]) and substring(failure_reason from ${quotedId}) = any(${requestIds})`)
  await tx.query(sql`
    update event set data = jsonb_set(data::jsonb, '{reason}', to_jsonb(regexp_replace(data->>'reason', ${quotation}, ${rest})))::json
    where session_id = any(${sessionIds}::uuid[]) and type = 'session.failed'
      and substring(data->>'reason' from ${quotedId}) = any(${requestIds})`)
}

/**
 * Erases the content of answers that were delivered before `deliveredBefore`: whoever asked has it, and nobody else needs it.
 * @returns how many answers it erased.
 */
export async function forgetDelivered(
  journal: Journal,
  deliveredBefore: Date,
  stopping?: AbortSignal,
): Promise<number> {
  let forgotten = 0
  while (!stopping?.aborted) {
    const rows = await journal.database.query(sql`
      update elicitation set content = null, forgotten_at = ${journal.now()}
      where id in (
        select id from elicitation where content is not null and delivered_at < ${deliveredBefore}
        order by delivered_at limit ${batchSize} for update skip locked)
      returning id`)
    if (rows.length === 0) break
    forgotten += rows.length
  }
  return forgotten
}
