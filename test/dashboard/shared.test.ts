import fc from 'fast-check'
import { expect, it } from 'vitest'
import { shared } from '../../src/dashboard/server/shared.ts'

const edge = (id: string, more: object = {}) => ({ node: { id, form: { fields: [{ name: 'a' }] }, ...more } })
const copyOf = <Value>(value: Value): Value => structuredClone(value)

it('what has not changed at all is the older one itself', () => {
  const older = { queue: { edges: [edge('1'), edge('2')], totalCount: 2 } }
  expect(shared(older, copyOf(older))).toBe(older)
})

it('one that comes in front leaves the others the very same', () => {
  const older = { edges: [edge('1'), edge('2')] }
  const { edges } = shared(older, { edges: [edge('0'), edge('1'), edge('2', { title: 'New' })] })
  expect(edges[1]).toBe(older.edges[0])
  expect(edges[2]).not.toBe(older.edges[1])
  expect(edges[2]!.node.form).toBe(older.edges[1]!.node.form)
})

it('a list in another order is another list of the same things', () => {
  const older = [{ id: 'a' }, { id: 'b' }]
  const newer = shared(older, [{ id: 'b' }, { id: 'a' }])
  expect(newer).toEqual([{ id: 'b' }, { id: 'a' }])
  expect(newer[0]).toBe(older[1])
})

it('says nothing but what the newer one says, whatever stood there before', () => {
  const json = fc.jsonValue()
  fc.assert(
    fc.property(json, json, (older, newer) => {
      expect(JSON.stringify(shared(older, copyOf(newer)))).toBe(JSON.stringify(newer))
    }),
  )
  const hostile = JSON.parse('{"a": {"__proto__": {"x": 1}, "constructor": 2}}')
  expect(JSON.stringify(shared({ a: {} }, hostile))).toBe(JSON.stringify(hostile))
})
