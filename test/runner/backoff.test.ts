import { assert, integer, property } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoffMs, retry } from '../../src/runner/backoff.ts'

test('the wait doubles from a quarter of a second to half a minute, give or take a quarter', () => {
  assert(
    property(integer({ min: 1, max: 10_000 }), (failures) => {
      const middle = Math.min(250 * 2 ** (failures - 1), 30_000)
      const wait = backoffMs(failures)
      expect(wait).toBeGreaterThanOrEqual(middle * 0.75)
      expect(wait).toBeLessThanOrEqual(middle * 1.25)
    }),
  )
})

describe('trying again', () => {
  test('goes on until it works', async () => {
    let tries = 0
    const work = async () => {
      if (++tries < 3) throw new Error(`no ${tries}`)
      return 'yes'
    }
    const seen: unknown[] = []
    const signal = new AbortController().signal
    expect(
      await retry(work, { signal, isWorthwhile: () => true, onFailure: (error) => seen.push(String(error)) }),
    ).toBe('yes')
    expect(seen).toEqual(['Error: no 1', 'Error: no 2'])
  })

  test('ends at once with what another try would not change', async () => {
    let tries = 0
    const work = async () => {
      tries++
      throw new Error('never')
    }
    const signal = new AbortController().signal
    await expect(retry(work, { signal, isWorthwhile: () => false })).rejects.toThrow('never')
    expect(tries).toBe(1)
  })

  test('ends in the midst of a wait when it is given up, and has tried at least once', async () => {
    const given = new AbortController()
    given.abort()
    let tries = 0
    const work = async () => {
      tries++
      throw new Error('away')
    }
    await expect(retry(work, { signal: given.signal, isWorthwhile: () => true })).rejects.toThrow('away')
    expect(tries).toBe(1)
    const later = new AbortController()
    const onFailure = () => later.abort()
    await expect(retry(work, { signal: later.signal, isWorthwhile: () => true, onFailure })).rejects.toThrow(
      'away',
    )
    expect(tries).toBe(2)
  })
})
