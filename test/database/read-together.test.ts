import { expect, it } from 'vitest'
import { readTogether } from '../../src/database/read-together.ts'

/** A load that answers when it is told to. */
function byHand() {
  const loads: {
    keys: string[]
    answer: (rows: [string, string][]) => void
    fail: (error: Error) => void
  }[] = []
  const read = readTogether(
    (keys) =>
      new Promise<Map<string, string>>((resolve, reject) => {
        loads.push({ keys, answer: (rows) => resolve(new Map(rows)), fail: reject })
      }),
  )
  return { loads, read }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

it('reads at once, and what comes meanwhile with the next', async () => {
  const { loads, read } = byHand()
  const first = read('a')
  const [again, other, unknown] = [read('a'), read('b'), read('c')]
  expect(loads.map(({ keys }) => keys)).toEqual([['a']])
  loads[0]!.answer([['a', 'old']])
  expect(await first).toBe('old')
  await turn()
  // Who came while the first was under way may have been told of something that it did not see.
  expect(loads[1]!.keys).toEqual(['a', 'b', 'c'])
  loads[1]!.answer([
    ['a', 'new'],
    ['b', 'b'],
  ])
  expect(await Promise.all([again, other, unknown])).toEqual(['new', 'b', null])
})

it('fails for those who shared it, and reads on', async () => {
  const { loads, read } = byHand()
  const first = read('a')
  const next = read('b')
  loads[0]!.fail(new Error('away'))
  await expect(first).rejects.toThrow('away')
  await turn()
  loads[1]!.answer([['b', 'b']])
  expect(await next).toBe('b')
  const later = read('a')
  expect(loads[2]!.keys).toEqual(['a'])
  loads[2]!.answer([])
  expect(await later).toBeNull()
})

it('takes a bounded number of keys at a time', async () => {
  const { loads, read } = byHand()
  const first = read('first')
  const others = Array.from({ length: 450 }, (_, i) => read(`k${i}`))
  for (let load = 0; load < 4; load++) {
    const { keys, answer } = loads[load]!
    expect(keys.length).toBeLessThanOrEqual(200)
    answer(keys.map((key) => [key, key]))
    await turn()
  }
  expect(await Promise.all([first, ...others])).toEqual([
    'first',
    ...Array.from({ length: 450 }, (_, i) => `k${i}`),
  ])
})

it('waits for nobody who does not answer: the next statement goes out after a moment', async () => {
  const { loads, read } = byHand()
  const stuck = read('a')
  const next = read('b')
  expect(loads).toHaveLength(1)
  await expect.poll(() => loads.length).toBe(2)
  expect(loads[1]!.keys).toEqual(['b'])
  loads[1]!.answer([['b', 'b']])
  expect(await next).toBe('b')
  const later = read('c')
  await expect.poll(() => loads.length).toBe(3)
  loads[2]!.answer([['c', 'c']])
  expect(await later).toBe('c')
  loads[0]!.answer([['a', 'late']])
  expect(await stuck).toBe('late')
})

it('has a bounded number of statements under way, however many are not answered', async () => {
  const { loads, read } = byHand()
  const asked = [read('0')]
  for (let i = 1; i < 4; i++) {
    asked.push(read(String(i)))
    await expect.poll(() => loads.length).toBe(i + 1)
  }
  asked.push(read('4'))
  await new Promise((resolve) => setTimeout(resolve, 600))
  expect(loads).toHaveLength(4)
  for (let i = 0; i < 5; i++) {
    await expect.poll(() => loads.length).toBeGreaterThan(i)
    loads[i]!.answer([[String(i), 'there']])
  }
  expect(await Promise.all(asked)).toEqual(Array(5).fill('there'))
})
