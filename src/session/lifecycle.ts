import type { SessionStatus } from '../database/generated/prisma/enums.ts'
import type { EventType } from '../events/event.ts'

export type { SessionStatus }

export type SessionEvent =
  | 'start'
  | 'pause'
  | 'resume'
  | 'sleep'
  | 'block_on_elicitation'
  | 'unblock_from_elicitation'
  | 'fail'
  | 'archive'
  | 'unarchive'

/** What the lifecycle looks at. `blocked` is the marker: a living agent waits for an answer. */
export interface SessionState {
  status: SessionStatus
  blocked: boolean
  /** Where an archived session goes back to. */
  archivedFrom: SessionStatus | null
}

export interface Transition {
  to: SessionStatus
  blocked: boolean
  /** The agent's turn is over: whoever runs its process ends it. Never true of a block. */
  endsProcess: boolean
  /** What is still pending becomes `cancel` with cause `session_ended`. */
  endsPending: boolean
  lost: 'keep' | 'drop' | 'strand'
  event: EventType
}

type Rule = (state: SessionState) => Transition | { refused: string }

const living: SessionStatus[] = ['waiting', 'running', 'needs_input']

/** The whole lifecycle: nine events, five states and the marker. Everything it does not allow, it refuses with a way out. */
const lifecycle: Record<SessionEvent, Rule> = {
  start: ({ status, blocked }) =>
    status === 'waiting'
      ? {
          to: 'running',
          blocked,
          endsProcess: false,
          endsPending: false,
          lost: 'keep',
          event: 'session.started',
        }
      : { refused: 'Only a waiting session can be started. Resume it instead, or create another one.' },

  pause: ({ status, blocked }) => {
    if (status !== 'running' && !(status === 'needs_input' && blocked))
      return { refused: 'Only a running session can be paused; this one has no turn to end.' }
    const stranded = status === 'needs_input'
    return {
      to: 'needs_input',
      blocked: false,
      endsProcess: true,
      endsPending: true,
      lost: stranded ? 'strand' : 'keep',
      event: 'session.paused',
    }
  },

  resume: ({ status, blocked }) => {
    if (blocked)
      return {
        refused:
          'The session waits for an answer and its process is alive: a second one would orphan the request. Answer or dismiss the request first.',
      }
    return status === 'waiting' || status === 'needs_input' || status === 'failed'
      ? {
          to: 'running',
          blocked: false,
          endsProcess: false,
          endsPending: true,
          lost: 'drop',
          event: 'session.resumed',
        }
      : {
          refused: status === 'archived' ? 'Unarchive the session first.' : 'The session is already running.',
        }
  },

  sleep: ({ status, blocked }) =>
    status === 'needs_input' && !blocked
      ? {
          to: 'waiting',
          blocked: false,
          endsProcess: false,
          endsPending: false,
          lost: 'keep',
          event: 'session.slept',
        }
      : {
          refused: blocked
            ? 'The session waits for an answer. Answer or dismiss the request first, or pause the session.'
            : 'Only a session that needs input can be put to sleep.',
        },

  block_on_elicitation: ({ status }) =>
    status === 'running'
      ? {
          to: 'needs_input',
          blocked: true,
          endsProcess: false,
          endsPending: false,
          lost: 'keep',
          event: 'session.blocked',
        }
      : { refused: 'Only a running session is blocked by a request.' },

  unblock_from_elicitation: ({ status, blocked }) =>
    status === 'needs_input' && blocked
      ? {
          to: 'running',
          blocked: false,
          endsProcess: false,
          endsPending: false,
          lost: 'drop',
          event: 'session.unblocked',
        }
      : { refused: 'The session is not blocked.' },

  fail: ({ status }) =>
    living.includes(status)
      ? {
          to: 'failed',
          blocked: false,
          endsProcess: true,
          endsPending: true,
          lost: 'keep',
          event: 'session.failed',
        }
      : { refused: `A session that is ${status} cannot fail.` },

  archive: ({ status }) =>
    status !== 'archived'
      ? {
          to: 'archived',
          blocked: false,
          endsProcess: true,
          endsPending: true,
          lost: 'drop',
          event: 'session.archived',
        }
      : { refused: 'The session is already archived.' },

  unarchive: ({ status, archivedFrom }) => {
    if (status !== 'archived') return { refused: 'The session is not archived.' }
    const from = archivedFrom ?? 'needs_input'
    return {
      // Nothing runs any more, so what was running waits for a person.
      to: from === 'running' ? 'needs_input' : from,
      blocked: false,
      endsProcess: false,
      endsPending: false,
      lost: 'keep',
      event: 'session.unarchived',
    }
  },
}

/** The one place that says whether `event` may happen to a session in `state`, and what it brings. Pure and total. */
export function transition(event: SessionEvent, state: SessionState): Transition | { refused: string } {
  return lifecycle[event](state)
}
