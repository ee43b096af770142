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

type Noticed = Pick<TimelineEvent, 'type' | 'cursor' | 'sessionId' | 'elicitationId' | 'at'>

/** By event; to every channel and at once where nothing else is said. */
const notices: {
  [type in EventType]?: (event: Noticed) => Omit<Notice, 'channels' | 'dueAt'> & Partial<Notice>
} = {
  'elicitation.created': ({ elicitationId }) => ({ type: 'elicitation.pending', subject: elicitationId! }),
  'elicitation.resolved': ({ elicitationId }) => ({ type: 'elicitation.resolved', subject: elicitationId! }),
  'session.paused': ({ sessionId, at }) => ({
    type: 'session.needs_input',
    subject: sessionId!,
    dueAt: new Date(at.getTime() + pauseNoticeMs),
  }),
  'session.failed': ({ sessionId }) => ({ type: 'session.failed', subject: sessionId! }),
  'gate.unreachable': ({ cursor }) => ({
    type: 'gate.unreachable',
    subject: `event ${cursor}`,
    channels: ['webhook'],
  }),
  'gate.recovered': ({ cursor }) => ({
    type: 'gate.recovered',
    subject: `event ${cursor}`,
    channels: ['webhook'],
  }),
}

/** The notice that an event of the timeline gives, or null. Pure: whether it is still true is asked when it is due. */
export function noticeOf(event: Noticed): Notice | null {
  const notice = notices[event.type]?.(event)
  return notice ? { channels: everywhere, dueAt: event.at, ...notice } : null
}

/** The events that `noticeOf` has something to say about, so that a reader may skip the others. */
export const noticedEvents = Object.keys(notices) as EventType[]
