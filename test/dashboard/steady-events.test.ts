import { expect, it } from 'vitest'
import { continued } from '../../src/dashboard/timeline/steady-events.ts'

const page = (from: number, to: number, olderExist: boolean) => ({
  olderExist,
  events: Array.from({ length: to - from + 1 }, (_, i) => ({ cursor: String(from + i) }) as never),
})

it('what was shown stays above what is new', () => {
  expect(continued(page(1, 3, false), page(2, 5, true))).toEqual(page(1, 5, false))
  expect(continued(page(4, 6, true), page(6, 9, true))).toEqual(page(4, 9, true))
})

it('begins anew where something in between is not known', () => {
  expect(continued(page(1, 3, false), page(5, 7, true))).toEqual(page(5, 7, true))
})

it('begins with the first event of a session that had none', () => {
  expect(continued(page(1, 0, false), page(1, 1, false))).toEqual(page(1, 1, false))
})
