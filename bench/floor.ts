import { createServer, type IncomingMessage } from 'node:http'
import pg from 'pg'

/**
 * The floor: node:http and the pool, without anything else. GET is one prepared SELECT, and /held keeps the answer back; POST writes the rows that a
 * creation writes and PATCH those of an answer, each in one raw transaction. Listens on PORT, against DATABASE_URL.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 })

const select = {
  name: 'poll',
  text: `select id, request_id, session_id, status, content, note, expires_at, responded_at, delivered_at from elicitation where request_id = $1`,
}
const insertElicitation = {
  name: 'elicitation',
  text: `insert into elicitation (id, request_id, session_id, mode, message, requested_schema, meta, tool_name, caller_address, expires_at, created_at)
    values ($1, $2, $3, 'form', $4, $5, $6, $7, '127.0.0.1', now() + interval '1 hour', now()) returning *`,
}
const updateElicitation = {
  name: 'answer',
  text: `update elicitation set status = $2, cause = 'answered', content = $3, responded_at = now(), responded_by_name = 'floor',
    responded_by_surface = 'rest', responded_by_actor = 'floor' where request_id = $1 and status = 'pending' returning id, session_id`,
}
const freeSession = {
  name: 'free',
  text: `update session set status = 'running', blocked_on_elicitation = false, needs_input_since = null, updated_at = now() where id = $1`,
}
const updateSession = {
  name: 'session',
  text: `update session set status = 'needs_input', blocked_on_elicitation = true, needs_input_since = now(), updated_at = now() where id = $1`,
}
const insertEvent = {
  name: 'event',
  text: `insert into event (type, session_id, elicitation_id, actor_kind, data, attention, at) values ($1, $2, $3, 'mcp-server', $4, $5, now())`,
}

createServer(async (request, response) => {
  const send = (status: number, body: unknown) => {
    const text = JSON.stringify(body)
    response
      .writeHead(status, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(text),
      })
      .end(text)
  }
  try {
    if (request.url === '/held') return
    if (request.method === 'GET') {
      const { rows } = await pool.query({
        ...select,
        values: [request.url!.slice(request.url!.lastIndexOf('/') + 1).split('?')[0]],
      })
      return send(200, {
        action: rows[0].status,
        content: rows[0].content,
        _meta: { 'com.pulsemcp/request-id': rows[0].request_id },
      })
    }
    const body = JSON.parse(await text(request))
    if (request.method === 'PATCH') {
      const requestId = request.url!.split('/')[4]!
      await inTransaction(async (client) => {
        const { rows } = await client.query({
          ...updateElicitation,
          values: [requestId, body.action_type, JSON.stringify(body.content)],
        })
        const { id, session_id: session } = rows[0]
        await client.query({ ...freeSession, values: [session] })
        await client.query({
          ...insertEvent,
          values: [
            'elicitation.resolved',
            session,
            id,
            JSON.stringify({ requestId, status: body.action_type }),
            null,
          ],
        })
        await client.query({ ...insertEvent, values: ['session.unblocked', session, null, '{}', 'left'] })
      })
      return send(200, { action: body.action_type, content: body.content })
    }
    const id = crypto.randomUUID()
    const session = body._meta['com.pulsemcp/session-id']
    const requestId = body._meta['com.pulsemcp/request-id']
    await inTransaction(async (client) => {
      await client.query({
        ...insertElicitation,
        values: [
          id,
          requestId,
          session,
          body.message,
          JSON.stringify(body.requestedSchema),
          JSON.stringify(body._meta),
          'delete_tenant',
        ],
      })
      await client.query({ ...updateSession, values: [session] })
      await client.query({
        ...insertEvent,
        values: ['elicitation.created', session, id, JSON.stringify({ requestId }), null],
      })
      await client.query({ ...insertEvent, values: ['session.blocked', session, null, '{}', 'entered'] })
    })
    send(201, { action: 'pending', requestId })
  } catch (error) {
    send(500, { error: String(error) })
  }
}).listen(Number(process.env.PORT), '127.0.0.1', () => process.stdout.write('ready\n'))

async function inTransaction(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } finally {
    client.release()
  }
}

async function text(request: IncomingMessage): Promise<string> {
  let whole = ''
  request.setEncoding('utf8')
  for await (const chunk of request) whole += chunk
  return whole
}
