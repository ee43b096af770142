import { isRecord, own } from '../../base/json.ts'
import type { TimelineLineFragment } from '../generated/graphql.ts'

type Event = Pick<TimelineLineFragment, 'type' | 'data' | 'elicitation'>

const plain: Record<string, string> = {
  'session.created': 'Session created',
  'session.started': 'Started',
  'session.paused': 'Paused: the turn ended',
  'session.resumed': 'Resumed',
  'session.slept': 'Put to sleep',
  'session.blocked': 'Blocked, waiting for an answer',
  'session.unblocked': 'Unblocked, running again',
  'session.archived': 'Archived',
  'session.unarchived': 'Taken back from the archive',
  'session.lost_cleared': 'Lost request cleared: the session moved on',
  'elicitation.delivered': 'Answer delivered to the agent',
  'launch.prepared': 'Launch prepared',
  'gate.reported': 'Gate checked from the agent’s host',
  'gate.unreachable': 'Gate unreachable',
  'gate.recovered': 'Gate reachable again',
  'gate.token_created': 'Gate address created',
  'gate.token_ended': 'Gate address ended',
  'key.created': 'Key created',
  'key.rotated': 'Key given a successor',
  'key.revoked': 'Key revoked',
  'key.refused': 'Wrong key refused',
  'notification.sent': 'Notification sent',
  'notification.failed': 'Notification failed',
  'process.registered': 'Process started',
  'process.lost': 'Process lost: its runner was not heard of any more',
}

const resolutions: Record<string, string> = {
  accept: 'Accepted',
  decline: 'Declined',
  expired: 'Expired: nobody answered in time',
  dismissed: 'Dismissed without an answer',
  session_ended: 'Cancelled: the session ended',
  withdrawn: 'Withdrawn by the server that asked',
}

/**
 * What happened, for a person; a second line has the words that others put to it. Types that this page does not know yet are
 * shown as they are.
 */
export function eventText({ type, data, elicitation }: Event): { title: string; detail: string | null } {
  const text = (name: string) => {
    const value = isRecord(data) ? own(data, name) : undefined
    return value === null || value === undefined ? null : String(value)
  }
  const tool = elicitation?.toolName ?? null
  switch (type) {
    case 'elicitation.created':
      return { title: `Approval requested${tool ? `: ${tool}` : ''}`, detail: null }
    case 'elicitation.resolved':
      return {
        title: `${resolution(text('status'), text('cause'))}${tool ? `: ${tool}` : ''}`,
        detail: text('note'),
      }
    case 'elicitation.answer_refused':
      return { title: 'An answer was refused', detail: text('code') }
    case 'session.failed':
      return { title: 'Failed', detail: text('reason') }
    case 'session.lost_recorded':
      return {
        title: text('reason') === 'expired' ? 'Approval request expired' : 'Approval request lost',
        detail: text('summary'),
      }
    case 'process.exited': {
      const signal = text('signal')
      return {
        title: `Process ended${signal ? ` by ${signal}` : ` with code ${text('exitCode') ?? 'unknown'}`}`,
        detail: null,
      }
    }
    default:
      return {
        title: Object.hasOwn(plain, type) ? plain[type]! : type,
        detail: text('detail') ?? text('reason'),
      }
  }
}

function resolution(status: string | null, cause: string | null): string {
  const word = status === 'cancel' ? cause : status
  return word !== null && Object.hasOwn(resolutions, word) ? resolutions[word]! : 'Resolved'
}

const actors: Record<string, string> = {
  'mcp-server': 'an MCP server',
  clock: 'the clock',
  sweep: 'the sweep',
  runner: 'the runner',
  system: 'Holdpoint',
}

export function actorText({ kind, name, role }: TimelineLineFragment['actor']): string {
  if (name !== null) return role === null ? name : `${name} (${role.toLowerCase()})`
  return Object.hasOwn(actors, kind) ? actors[kind]! : kind
}
