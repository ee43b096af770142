import type { RequestFragment } from '../generated/graphql.ts'

/** Requests that may be dismissed in one go: all there are, or all from one address. */
export type Flood = { key: string; address: string | null; ids: string[] }

/** Fewer are dismissed one by one; a flood is not. */
const offeredFrom = 3

/** Everything first, then what came from one address, the largest first; no two offers for the same requests. */
export function floodsOf(requests: readonly Pick<RequestFragment, 'id' | 'callerAddress'>[]): Flood[] {
  const byAddress = Map.groupBy(requests, ({ callerAddress }) => callerAddress)
  const ofOne = [...byAddress]
    .filter(([address]) => address !== null)
    .map(([address, from]) => ({ key: `from ${address}`, address, ids: from.map(({ id }) => id) }))
    .toSorted((a, b) => b.ids.length - a.ids.length)
  const all = { key: 'all', address: null, ids: requests.map(({ id }) => id) }
  const isOneSource = ofOne.some(({ ids }) => ids.length === requests.length)
  return (isOneSource ? ofOne : [all, ...ofOne]).filter(({ ids }) => ids.length >= offeredFrom)
}
