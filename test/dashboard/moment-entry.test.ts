import { expect, it } from 'vitest'
import {
  emptyMoment,
  momentEntryOf,
  offsetHere,
  offsets,
  timestampOf,
} from '../../src/dashboard/form/moment-entry.ts'
import { formatProblem } from '../../src/elicitation/form/formats.ts'

it.each([
  ['2026-02-28T10:00:00Z', { local: '2026-02-28T10:00', zone: 'Z' }],
  ['2026-02-28t10:00:30+02:00', { local: '2026-02-28T10:00:30', zone: '+02:00' }],
  ['2026-02-28T10:00:00.250-03:30', { local: '2026-02-28T10:00:00.250', zone: '-03:30' }],
])('puts %s into the two controls', (text, entry) => {
  expect(momentEntryOf(text)).toEqual(entry)
})

it('starts empty without a default', () => {
  expect(momentEntryOf(null)).toEqual(emptyMoment)
})

it.each([['Z'], ...offsets.map((offset) => [offset])])(
  'makes an RFC 3339 timestamp in the zone %s',
  (zone) => {
    const text = timestampOf({ local: '2026-02-28T10:00', zone })
    expect(text).toBe(`2026-02-28T10:00:00${zone}`)
    expect(formatProblem('DATE_TIME', text)).toBeNull()
  },
)

it("takes the browser's offset of that very day", () => {
  const text = timestampOf({ local: '2026-07-01T10:00', zone: 'here' })
  expect(text).toBe(`2026-07-01T10:00:00${offsetHere('2026-07-01T10:00')}`)
  expect(new Date(text).getTime()).toBe(new Date('2026-07-01T10:00').getTime())
})

it('lists every offset once, west to east', () => {
  expect(new Set(offsets).size).toBe(offsets.length)
  expect(offsets.at(0)).toBe('-12:00')
  expect(offsets.at(-1)).toBe('+14:00')
})
