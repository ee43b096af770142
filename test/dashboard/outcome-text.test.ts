import { describe, expect, it } from 'vitest'
import { deliveryOf, endingOf } from '../../src/dashboard/elicitation/outcome-text.ts'

const form = { confirmation: 'confirm', fields: [{ name: 'confirm', title: 'Delete it?' }] }

describe('how a request ended', () => {
  it.each([
    ['ACCEPT', 'ANSWERED', { confirm: true }, 'Accepted'],
    ['DECLINE', 'ANSWERED', null, 'Declined'],
    ['CANCEL', 'DISMISSED', null, 'Dismissed without an answer'],
    ['CANCEL', 'SESSION_ENDED', null, 'Cancelled, the session ended'],
    ['CANCEL', 'WITHDRAWN', null, 'Withdrawn by the server that asked'],
    ['EXPIRED', 'EXPIRED', null, 'Expired'],
  ] as const)('%s by %s reads "%s"', (status, cause, content, title) => {
    expect(endingOf({ status, cause, content, form }).title).toBe(title)
  })

  it('never lets an accepted No read like a yes', () => {
    const ending = endingOf({ status: 'ACCEPT', cause: 'ANSWERED', content: { confirm: false }, form })
    expect(ending).toEqual({ title: 'Answered “No” (accepted with a no)', tone: 'bad' })
  })

  it('takes a No beside other answers for what it is: one answer of several', () => {
    const several = { confirmation: null, fields: [] }
    expect(
      endingOf({ status: 'ACCEPT', cause: 'ANSWERED', content: { confirm: false }, form: several }).title,
    ).toBe('Accepted')
  })
})

describe('what is known of the delivery', () => {
  const answered = {
    status: 'ACCEPT',
    cause: 'ANSWERED',
    respondedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-01T01:00:00.000Z',
    deliveredAt: null,
    listening: 'LISTENING',
  } as const

  it('says how long it took', () => {
    expect(deliveryOf({ ...answered, deliveredAt: '2026-01-01T00:00:00.200Z' })).toBe('delivered 0.2 s later')
    expect(deliveryOf({ ...answered, deliveredAt: '2026-01-01T00:03:00.000Z' })).toBe('delivered 3 min later')
  })

  it('tells a recorded answer that somebody will fetch from one that nobody waits for', () => {
    expect(deliveryOf(answered)).toBe('recorded, the agent has not collected it yet')
    expect(deliveryOf({ ...answered, listening: 'SILENT' })).toBe('recorded, nobody was waiting')
    expect(deliveryOf({ ...answered, listening: 'NOT_YET' })).toBe('recorded, nobody was waiting')
  })

  it('says nothing of what is pending or taken back', () => {
    expect(deliveryOf({ ...answered, status: 'PENDING' })).toBeNull()
    expect(deliveryOf({ ...answered, status: 'CANCEL', cause: 'WITHDRAWN' })).toBeNull()
  })
})
