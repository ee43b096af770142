import { describe, expect, it } from 'vitest'
import {
  type SessionEvent,
  type SessionState,
  type SessionStatus,
  transition,
} from '../../src/session/lifecycle.ts'

const statuses: SessionStatus[] = ['waiting', 'running', 'needs_input', 'failed', 'archived']
const events: SessionEvent[] = [
  'start',
  'pause',
  'resume',
  'sleep',
  'block_on_elicitation',
  'unblock_from_elicitation',
  'fail',
  'archive',
  'unarchive',
]

/** From each status, without and with the marker: where each event leads, or '-' where it is refused. */
const table: Record<SessionEvent, Record<SessionStatus, [unmarked: string, marked: string]>> = {
  start: {
    waiting: ['running', 'running'],
    running: ['-', '-'],
    needs_input: ['-', '-'],
    failed: ['-', '-'],
    archived: ['-', '-'],
  },
  pause: {
    waiting: ['-', '-'],
    running: ['needs_input', 'needs_input'],
    needs_input: ['-', 'needs_input'],
    failed: ['-', '-'],
    archived: ['-', '-'],
  },
  resume: {
    waiting: ['running', '-'],
    running: ['-', '-'],
    needs_input: ['running', '-'],
    failed: ['running', '-'],
    archived: ['-', '-'],
  },
  sleep: {
    waiting: ['-', '-'],
    running: ['-', '-'],
    needs_input: ['waiting', '-'],
    failed: ['-', '-'],
    archived: ['-', '-'],
  },
  block_on_elicitation: {
    waiting: ['-', '-'],
    running: ['needs_input', 'needs_input'],
    needs_input: ['-', '-'],
    failed: ['-', '-'],
    archived: ['-', '-'],
  },
  unblock_from_elicitation: {
    waiting: ['-', '-'],
    running: ['-', '-'],
    needs_input: ['-', 'running'],
    failed: ['-', '-'],
    archived: ['-', '-'],
  },
  fail: {
    waiting: ['failed', 'failed'],
    running: ['failed', 'failed'],
    needs_input: ['failed', 'failed'],
    failed: ['-', '-'],
    archived: ['-', '-'],
  },
  archive: {
    waiting: ['archived', 'archived'],
    running: ['archived', 'archived'],
    needs_input: ['archived', 'archived'],
    failed: ['archived', 'archived'],
    archived: ['-', '-'],
  },
  unarchive: {
    waiting: ['-', '-'],
    running: ['-', '-'],
    needs_input: ['-', '-'],
    failed: ['-', '-'],
    archived: ['needs_input', 'needs_input'],
  },
}

const state = (
  status: SessionStatus,
  blocked = false,
  archivedFrom: SessionStatus | null = null,
): SessionState => ({ status, blocked, archivedFrom })

describe('the lifecycle of a session', () => {
  it.each(events.flatMap((event) => statuses.map((status) => [event, status] as const)))(
    '%s from %s leads where the table says',
    (event, status) => {
      const outcome = (blocked: boolean) => {
        const next = transition(event, state(status, blocked))
        return 'refused' in next ? '-' : next.to
      }
      expect([outcome(false), outcome(true)]).toEqual(table[event][status])
    },
  )

  it.each(events)('%s explains each refusal', (event) => {
    for (const status of statuses)
      for (const blocked of [false, true]) {
        const next = transition(event, state(status, blocked))
        if ('refused' in next) expect(next.refused).toMatch(/^[A-Z].*\.$/)
      }
  })

  it.each([
    ['waiting', 'waiting'],
    ['running', 'needs_input'],
    ['needs_input', 'needs_input'],
    ['failed', 'failed'],
  ] as const)('unarchive brings a session that was %s back as %s', (from, to) => {
    expect(transition('unarchive', state('archived', false, from))).toMatchObject({ to })
  })

  it('never touches the process on a block or an unblock, and ends it on pause, fail and archive', () => {
    const ends = (event: SessionEvent, from: SessionState) => {
      const next = transition(event, from)
      return 'refused' in next ? null : next.endsProcess
    }
    expect(ends('block_on_elicitation', state('running'))).toBe(false)
    expect(ends('unblock_from_elicitation', state('needs_input', true))).toBe(false)
    expect(ends('pause', state('running'))).toBe(true)
    expect(ends('pause', state('needs_input', true))).toBe(true)
    expect(ends('fail', state('running'))).toBe(true)
    expect(ends('archive', state('running'))).toBe(true)
  })
})
