import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Kept, settle } from '../../src/dashboard/attention/steady-list.ts'

const keysOf = (kept: Kept<string>[]) => kept.map(({ key, present }) => (present ? key : `(${key})`))

function snapshots(...lists: string[][]): string[] {
  return keysOf(lists.reduce<Kept<string>[]>((kept, items) => settle(kept, items, (item) => item), []))
}

it("starts in the server's order", () => {
  expect(snapshots(['b', 'a', 'c'])).toEqual(['b', 'a', 'c'])
})

it('puts newcomers at the end, however urgent', () => {
  expect(snapshots(['b', 'c'], ['a', 'b', 'c'])).toEqual(['b', 'c', 'a'])
})

it('keeps the place of what is gone', () => {
  expect(snapshots(['a', 'b', 'c'], ['c'])).toEqual(['(a)', '(b)', 'c'])
})

it('takes back into its place what returns', () => {
  expect(snapshots(['a', 'b'], ['b'], ['b', 'a'])).toEqual(['a', 'b'])
})

it('moves nothing, loses nothing and shows nothing twice, whatever the server says', () => {
  const list = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 })
  fc.assert(
    fc.property(fc.array(list, { maxLength: 8 }), (lists) => {
      let kept: Kept<string>[] = []
      for (const items of lists) {
        const before = kept.map(({ key }) => key)
        kept = settle(kept, items, (item) => item)
        const keys = kept.map(({ key }) => key)
        expect(keys.slice(0, before.length)).toEqual(before)
        expect(new Set(keys).size).toBe(keys.length)
        expect(
          kept
            .filter(({ present }) => present)
            .map(({ key }) => key)
            .toSorted(),
        ).toEqual(items.toSorted())
      }
    }),
  )
})
