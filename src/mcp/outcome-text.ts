import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { Outcome } from './asker.ts'
import { toolResult } from './tool.ts'

/** An accept that answers the one question it was asked with "no", such as `{"confirm": false}`. */
export function saysNo(content: unknown): boolean {
  const values = typeof content === 'object' && content !== null ? Object.values(content) : []
  return values.length === 1 && values[0] === false
}

/** What an agent is told of its question: the request id, the action, the content if there is any. */
export function outcomeResult(requestId: string, outcome: Outcome | null): CallToolResult {
  const data = {
    request_id: requestId,
    action: outcome?.action ?? 'pending',
    content: outcome?.content ?? null,
    note: outcome?.note ?? null,
  }
  if (!outcome)
    return toolResult(
      `Request ${requestId}: pending. Nobody has answered yet. Call await_answer with request_id ${JSON.stringify(requestId)} to go on waiting; do not ask again.`,
      data,
    )
  const parts = [`Request ${requestId}: ${outcome.action}.`]
  if (outcome.content) parts.push(`Content: ${JSON.stringify(outcome.content)}.`)
  if (outcome.note) parts.push(`Note of the person: ${outcome.note}`)
  parts.push(meaningOf(outcome))
  return toolResult(parts.join('\n'), data)
}

function meaningOf({ action, content }: Outcome): string {
  switch (action) {
    case 'accept':
      return saysNo(content) ? 'The person answered, and the answer is no.' : 'The person accepted.'
    case 'decline':
      return 'The person declined. Respect it: do not look for another way to the same effect.'
    case 'cancel':
      return 'It was dismissed or taken back without an answer: neither a yes nor a no. Without a yes, do not go on with it.'
    case 'expired':
      return 'Nobody answered in time: neither a yes nor a no. Without a yes, do not go on with it; say that it is still open.'
  }
}
