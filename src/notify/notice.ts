import type { EventType, TimelineEvent } from '../events/event.ts'

/** What somebody outside is told. The names are those of the webhook. */
export type NoticeType =
  | 'elicitation.pending'
  | 'elicitation.resolved'
  | 'session.needs_input'
  | 'session.failed'
  | 'gate.unreachable'
  | 'gate.recovered'

export type Channel = 'webhook' | 'push'

export interface Notice {
  type: NoticeType
  /** What it is about: a request, a session, or the event itself. */
  subject: string
  channels: readonly Channel[]
  /** Not before this. */
  dueAt: Date
}

/** A pause that a person ends at once is nothing to be told of. */
const pauseNoticeMs = 60_000

const everywhere: readonly Channel[] = ['webhook', 'push']

/** The notice that an event of the timeline gives, or null. Pure: whether it is still true is asked when it is due. */
export function noticeOf({ type, cursor, sessionId, elicitationId, at }: TimelineEvent): Notice | null {
  switch (type) {
    case 'elicitation.created':
      return { type: 'elicitation.pending', subject: elicitationId!, channels: everywhere, dueAt: at }
    case 'elicitation.resolved':
      return { type, subject: elicitationId!, channels: everywhere, dueAt: at }
    case 'session.paused':
      return {
        type: 'session.needs_input',
        subject: sessionId!,
        channels: everywhere,
        dueAt: new Date(at.getTime() + pauseNoticeMs),
      }
    case 'session.failed':
      return { type, subject: sessionId!, channels: everywhere, dueAt: at }
    case 'gate.unreachable':
    case 'gate.recovered':
      return { type, subject: `event ${cursor}`, channels: ['webhook'], dueAt: at }
    default:
      return null
  }
}

/** The events that `noticeOf` has something to say about, so that a reader may skip the others. */
export const noticedEvents: readonly EventType[] = [
  'elicitation.created',
  'elicitation.resolved',
  'session.paused',
  'session.failed',
  'gate.unreachable',
  'gate.recovered',
]
