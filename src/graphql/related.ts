import type { GraphqlContext } from './context.ts'

export interface Related<Row, Value, Args> {
  (context: GraphqlContext, row: Row, args: Args): Promise<Value>
  /** Spares the read: whoever reads the children of a row knows what they belong to. */
  know(row: Row, value: Value): void
}

/**
 * What belongs to a row, read for many rows in one statement: all that is asked for until the next turn of the event loop
 * goes into one call of `load`, which returns one value for each row, in their order. Values are kept with the row object,
 * so that any number of subscribers who are sent the same row cause one read.
 */
export function related<Row extends object, Value, Args = void>(
  load: (context: GraphqlContext, rows: Row[], args: Args) => Promise<Value[]>,
): Related<Row, Value, Args> {
  const kept = new WeakMap<Row, Map<string, Promise<Value>>>()
  const batches = new WeakMap<GraphqlContext, Map<string, { rows: Row[]; loaded: Promise<Value[]> }>>()

  function placeInBatch(context: GraphqlContext, row: Row, args: Args, key: string): Promise<Value> {
    const open = batches.get(context) ?? new Map()
    batches.set(context, open)
    let batch = open.get(key)
    if (!batch) {
      const rows: Row[] = []
      const loaded = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        open.delete(key)
        return load(context, rows, args)
      })
      batch = { rows, loaded }
      open.set(key, batch)
    }
    const place = batch.rows.push(row) - 1
    return batch.loaded.then((values: Value[]) => values[place])
  }

  function keptWith(row: Row): Map<string, Promise<Value>> {
    const values = kept.get(row) ?? new Map<string, Promise<Value>>()
    kept.set(row, values)
    return values
  }

  function of(context: GraphqlContext, row: Row, args: Args): Promise<Value> {
    const key = args === undefined ? '' : JSON.stringify(args)
    const values = keptWith(row)
    const known = values.get(key)
    if (known) return known
    const value = placeInBatch(context, row, args, key)
    values.set(key, value)
    // A read that failed is not what the row is remembered with.
    value.catch(() => values.delete(key))
    return value
  }
  return Object.assign(of, {
    know(row: Row, value: Value) {
      keptWith(row).set('', Promise.resolve(value))
    },
  })
}
