import { isRecord } from '../../base/json.ts'
import type { OutcomeFragment } from '../generated/graphql.ts'
import { delay } from '../text/duration.ts'

export type Tone = 'good' | 'bad' | 'warning' | 'neutral'

type Ending = Pick<OutcomeFragment, 'status' | 'cause' | 'content' | 'form'>

/** Accepting with the only box answered No is a legal no, and must not read like a yes. */
export function isLegalNo({ status, content, form }: Ending): boolean {
  if (status !== 'ACCEPT' || !form?.confirmation || !isRecord(content)) return false
  return Object.hasOwn(content, form.confirmation) && content[form.confirmation] === false
}

export function endingOf(ending: Ending): { title: string; tone: Tone } {
  switch (ending.status) {
    case 'PENDING':
      return { title: 'Waiting for an answer', tone: 'neutral' }
    case 'ACCEPT':
      return isLegalNo(ending)
        ? { title: 'Answered “No” (accepted with a no)', tone: 'bad' }
        : { title: 'Accepted', tone: 'good' }
    case 'DECLINE':
      return { title: 'Declined', tone: 'bad' }
    case 'EXPIRED':
      return { title: 'Expired', tone: 'warning' }
    case 'CANCEL':
      switch (ending.cause) {
        case 'SESSION_ENDED':
          return { title: 'Cancelled, the session ended', tone: 'neutral' }
        case 'WITHDRAWN':
          return { title: 'Withdrawn by the server that asked', tone: 'neutral' }
        default:
          return { title: 'Dismissed without an answer', tone: 'neutral' }
      }
  }
}

/** What is known of the way back to the agent; null where nothing has to go there. */
export function deliveryOf(
  outcome: Pick<
    OutcomeFragment,
    'status' | 'cause' | 'respondedAt' | 'deliveredAt' | 'listening' | 'expiresAt'
  >,
): string | null {
  const { status, cause, respondedAt, deliveredAt, listening, expiresAt } = outcome
  if (status === 'PENDING' || cause === 'WITHDRAWN') return null
  if (deliveredAt)
    return `delivered ${delay(Date.parse(deliveredAt) - Date.parse(respondedAt ?? expiresAt))} later`
  if (status === 'EXPIRED') return null
  return listening === 'LISTENING'
    ? 'recorded, the agent has not collected it yet'
    : 'recorded, nobody was waiting'
}

export const expiredMeans =
  'Nobody answered before it timed out; the MCP server was told expired and the agent continued without approval.'

export const surfaces: Record<string, string> = {
  dashboard: 'the dashboard',
  graphql: 'GraphQL',
  rest: 'REST',
  mcp: 'MCP',
  cli: 'the terminal',
}

export function surfaceName(surface: string): string {
  return Object.hasOwn(surfaces, surface) ? surfaces[surface]! : surface
}
