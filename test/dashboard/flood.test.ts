import { expect, it } from 'vitest'
import { floodsOf } from '../../src/dashboard/elicitation/flood.ts'

const from = (callerAddress: string | null, ...ids: string[]) => ids.map((id) => ({ id, callerAddress }))
const flooder = '203.0.113.9'

it('one or two requests are no flood', () => {
  expect(floodsOf(from(flooder, 'a', 'b'))).toEqual([])
})

it('all from one address are offered once, by the address', () => {
  expect(floodsOf(from(flooder, 'a', 'b', 'c')).map(({ address, ids }) => [address, ids])).toEqual([
    [flooder, ['a', 'b', 'c']],
  ])
})

it('of several addresses each that floods is offered beside the whole, the largest first', () => {
  const requests = [
    ...from('192.0.2.1', 'own'),
    ...from('198.51.100.2', 'x', 'y', 'z'),
    ...from(flooder, 'a', 'b', 'c', 'd'),
  ]
  expect(floodsOf(requests).map(({ address, ids }) => [address, ids.length])).toEqual([
    [null, 8],
    [flooder, 4],
    ['198.51.100.2', 3],
  ])
})

it('requests of no known address are dismissed with the whole only', () => {
  expect(floodsOf(from(null, 'a', 'b', 'c')).map(({ address }) => address)).toEqual([null])
})
