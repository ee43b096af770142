import { expect, it } from 'vitest'
import * as server from '../../src/auth/succession.ts'
import { overlapDefaultMinutes, overlaps } from '../../src/dashboard/keys/overlap.ts'

const minutes = overlaps.map((each) => each.minutes)

it('preselects the overlap that the server takes by itself', () => {
  expect(overlapDefaultMinutes).toBe(server.overlapDefaultMinutes)
  expect(minutes).toContain(overlapDefaultMinutes)
})

it('offers from no overlap to the longest that the server allows, each longer than the one before', () => {
  expect([minutes[0], minutes.at(-1)]).toEqual([0, server.overlapMinutesMax])
  expect(minutes).toEqual(minutes.toSorted((a, b) => a - b))
})
