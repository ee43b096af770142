import { useCallback, useState } from 'react'

/** `present`: whether it is in the newest snapshot. */
export type Kept<Item> = { key: string; item: Item; present: boolean }

/**
 * A list in which nothing moves by itself: what is shown keeps its place, newcomers go to the end, and what is gone stays,
 * marked, until it is cleared. The order of the first snapshot is the server's.
 */
export function useSteadyList<Item>(items: readonly Item[] | undefined, keyOf: (item: Item) => string) {
  const [state, setState] = useState<{ source: typeof items; kept: Kept<Item>[] }>({
    source: undefined,
    kept: [],
  })
  let { kept } = state
  if (items && items !== state.source) {
    kept = settle(state.kept, items, keyOf)
    setState({ source: items, kept })
  }
  const clear = useCallback(
    (key?: string) =>
      setState(({ source, kept: all }) => ({
        source,
        kept: all.filter((entry) => entry.present || (key !== undefined && entry.key !== key)),
      })),
    [],
  )
  return { kept, clear }
}

export function settle<Item>(
  kept: readonly Kept<Item>[],
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Kept<Item>[] {
  const arriving = new Map(items.map((item) => [keyOf(item), item]))
  const stayed = kept.map(({ key, item }) => {
    const newer = arriving.get(key)
    arriving.delete(key)
    return newer === undefined ? { key, item, present: false } : { key, item: newer, present: true }
  })
  return [...stayed, ...[...arriving].map(([key, item]) => ({ key, item, present: true }))]
}
