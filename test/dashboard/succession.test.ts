import { expect, it } from 'vitest'
import type { Json } from '../../src/base/json.ts'
import { successionOf } from '../../src/dashboard/keys/succession.ts'

it('tells which key follows which, both ways, and of one that follows several', () => {
  const { replacedBy, replaces } = successionOf([
    { node: { data: { keyId: 'b', successorKeyId: 'c' } } },
    { node: { data: { keyId: 'a', successorKeyId: 'b' } } },
    { node: { data: { keyId: 'x', successorKeyId: 'c' } } },
  ])
  expect([...replacedBy]).toEqual([
    ['b', 'c'],
    ['a', 'b'],
    ['x', 'c'],
  ])
  expect([...replaces]).toEqual([
    ['c', ['b', 'x']],
    ['b', ['a']],
  ])
})

it('passes over an event that does not name both keys', () => {
  const told: Json[] = [null, 'text', {}, { keyId: 'a' }, { keyId: 1, successorKeyId: 'b' }]
  const { replacedBy, replaces } = successionOf(told.map((data) => ({ node: { data } })))
  expect([replacedBy.size, replaces.size]).toEqual([0, 0])
})
