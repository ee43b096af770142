import { useCallback, useState } from 'react'

/** `present`: whether it is in the newest snapshot. */
export type Kept<Item> = { key: string; item: Item; present: boolean }

type Source<Item> = readonly Item[] | undefined

/**
 * A list in which nothing moves by itself: what is shown keeps its place, newcomers go to the end, and what is gone stays,
 * marked, until it is cleared. The order of the first snapshot is the server's.
 */
export function useSteadyList<Item>(items: Source<Item>, keyOf: (item: Item) => string) {
  const [state, setState] = useState({
    source: undefined as Source<Item>,
    kept: [] as Kept<Item>[],
    /** Cleared while the newest snapshot still had them: a page knows of its own answer before the list does. */
    unwanted: new Set<string>(),
  })
  const { unwanted } = state
  let { kept } = state
  if (items && items !== state.source) {
    kept = settle(
      kept,
      items.filter((item) => !unwanted.has(keyOf(item))),
      keyOf,
    )
    setState({ source: items, kept, unwanted })
  }
  const clear = useCallback((key: string) => {
    setState(({ source, kept: all, unwanted: earlier }) => ({
      source,
      kept: all.filter((entry) => entry.key !== key),
      unwanted: all.some((entry) => entry.key === key && entry.present) ? new Set(earlier).add(key) : earlier,
    }))
  }, [])
  const clearGone = useCallback(
    () => setState((last) => ({ ...last, kept: last.kept.filter(({ present }) => present) })),
    [],
  )
  return { kept, clear, clearGone }
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
