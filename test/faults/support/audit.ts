import type { Database } from '../../../src/database/database.ts'
import { sql } from '../../../src/database/sql.ts'
import type { Traffic } from './traffic.ts'

/** Compares the database with what was acknowledged, and its timeline with its rows. Answers every fault that it finds. */
export async function audit(
  database: Database,
  { acknowledged }: Pick<Traffic, 'acknowledged'>,
): Promise<string[]> {
  const faults: string[] = []
  const rows = await database.query<{ requestId: string; status: string; delivered: boolean }>(
    sql`select request_id, status, delivered_at is not null as delivered from elicitation`,
  )
  const byRequestId = new Map(rows.map((row) => [row.requestId, row]))
  for (const id of acknowledged.asked)
    if (!byRequestId.has(id)) faults.push(`${id} was asked and is not there`)
  for (const [id, action] of acknowledged.answered)
    if (byRequestId.get(id)?.status !== action)
      faults.push(`${id} was answered ${action} and is ${byRequestId.get(id)?.status}`)
  for (const [id, action] of acknowledged.delivered) {
    const row = byRequestId.get(id)
    if (row?.status !== action || !row.delivered)
      faults.push(
        `${id} was carried away as ${action} and is ${row?.status}, ${row?.delivered ? '' : 'not '}delivered`,
      )
  }

  const untold = await database.query(sql`
    select e.id, e.status,
      count(*) filter (where ev.type = 'elicitation.created')::int as created,
      count(*) filter (where ev.type = 'elicitation.resolved')::int as resolved,
      count(*) filter (where ev.type = 'elicitation.delivered')::int as delivered,
      max(ev.data->>'status') filter (where ev.type = 'elicitation.resolved') as told
    from elicitation e left join event ev on ev.elicitation_id = e.id group by e.id
    having count(*) filter (where ev.type = 'elicitation.created') <> 1
      or count(*) filter (where ev.type = 'elicitation.resolved') <> case when e.status = 'pending' then 0 else 1 end
      or count(*) filter (where ev.type = 'elicitation.delivered') <> case when e.delivered_at is null then 0 else 1 end
      or max(ev.data->>'status') filter (where ev.type = 'elicitation.resolved') <> e.status::text`)
  for (const each of untold)
    faults.push(`the timeline of a request says something else: ${JSON.stringify(each)}`)

  const misled = await database.query(sql`
    select s.id, s.status, s.blocked_on_elicitation, told.status as told, pending.count::int as pending, queue.attention
    from session s
    left join lateral (select data->>'to' as status from event where session_id = s.id and data->>'to' is not null
      order by cursor desc limit 1) told on true
    left join lateral (select attention from event where session_id = s.id and attention is not null
      order by cursor desc limit 1) queue on true
    cross join lateral (select count(*) as count from elicitation where session_id = s.id and status = 'pending') pending
    where s.status::text <> told.status
      or s.blocked_on_elicitation <> (pending.count > 0)
      or (s.status = 'needs_input') <> (coalesce(queue.attention, 'left') <> 'left')`)
  for (const each of misled)
    faults.push(`a session's timeline or requests say something else: ${JSON.stringify(each)}`)
  return faults
}
