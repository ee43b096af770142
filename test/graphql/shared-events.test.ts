import { parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { variablesBelowRoot } from '../../src/graphql/server/shared-events.ts'

describe('the variables that what is told of an event hangs on', () => {
  it.each([
    ['none', 'subscription($after: EventCursor) { banners(after: $after) { __typename } }', []],
    [
      'those of arguments below the root',
      'subscription($after: EventCursor, $n: Int) { session(id: "1", after: $after) { session { elicitations(first: $n) { totalCount } } } }',
      ['n'],
    ],
    [
      'those of directives at the root and below, and of fragments',
      'subscription($a: Boolean!, $b: Boolean!, $c: Int) { gate @include(if: $a) { ...g } } fragment g on GateChange { cursor @skip(if: $b) x(y: $c) }',
      ['a', 'b', 'c'],
    ],
    [
      'one that the root has too',
      'subscription($id: ID!) { session(id: $id) { session { other(id: $id) } } }',
      ['id'],
    ],
  ])('are %s', (_which, text, variables) => {
    expect(variablesBelowRoot(parse(text))).toEqual(variables)
  })
})
