import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deadline, parseTimestamp } from '../../src/elicitation/deadline.ts'

const now = new Date('2026-03-01T12:00:00Z')
const hour = 60 * 60_000
const inMinutes = (asked: unknown) => (deadline(now, asked, hour).getTime() - now.getTime()) / 60_000

describe('a deadline', () => {
  it.each([
    ['what is asked for', '2026-03-01T12:30:00Z', 30],
    ['an offset', '2026-03-01T14:30:00+02:00', 30],
    ['a short offset', '2026-03-01T14:30:00+0200', 30],
    ['no seconds', '2026-03-01T12:30Z', 30],
    ['fractions', '2026-03-01T12:30:00.000000Z', 30],
    ['no zone, which is UTC', '2026-03-01T12:30:00', 30],
    ['a day alone', '2026-03-02', 12 * 60],
    ['at least a minute', '2026-03-01T12:00:01Z', 1],
    ['a minute for the past', '2020-01-01T00:00:00Z', 1],
    ['at most a week', '2030-01-01T00:00:00Z', 7 * 24 * 60],
    ['the default for nothing', undefined, 60],
    ['the default for a blank', '  ', 60],
    ['the default for a day that does not exist', '2026-02-30T00:00:00Z', 60],
    ['the default for a month that does not exist', '2026-13-01T00:00:00Z', 60],
    ['the default for words', 'tomorrow', 60],
    ['the default for a number', 1_772_366_400_000, 60],
    ['the default for an object', { iso: true }, 60],
  ])('is %s', (_, asked, minutes) => {
    expect(inMinutes(asked)).toBe(minutes)
  })

  it('is between a minute and a week from now, whoever names it', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
          fc.string(),
          fc.anything(),
        ),
        fc.integer({ min: 1, max: 1e12 }),
        (asked, byDefault) => {
          const ms = deadline(now, asked, byDefault).getTime() - now.getTime()
          expect(ms).toBeGreaterThanOrEqual(60_000)
          expect(ms).toBeLessThanOrEqual(7 * 24 * hour)
        },
      ),
    )
  })
})

it('a timestamp that this machine writes is read back as it was', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
      (date) => {
        expect(parseTimestamp(date.toISOString())?.getTime()).toBe(date.getTime())
      },
    ),
  )
})
