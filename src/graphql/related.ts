import type { GraphqlContext } from './context.ts'

/**
 * What belongs to a row, read for many rows in one statement: all that is asked for until the next turn of the event loop
 * goes into one call of `load`, which returns one value for each row, in their order. Values are kept with the row object,
 * so that any number of subscribers who are sent the same row cause one read.
 */
export function related<Row extends object, Value, Args = void>(
  load: (context: GraphqlContext, rows: Row[], args: Args) => Promise<Value[]>,
): (context: GraphqlContext, row: Row, args: Args) => Promise<Value> {
  interface Batch {
    rows: Row[]
    loaded: Promise<Value[]>
  }
  const kept = new WeakMap<Row, Map<string, Promise<Value>>>()
  const open = new WeakMap<object, Map<string, Batch>>()

  return (context, row, args) => {
    const key = args === undefined ? '' : JSON.stringify(args)
    let values = kept.get(row)
    if (!values) kept.set(row, (values = new Map()))
    const known = values.get(key)
    if (known) return known

    let batches = open.get(context)
    if (!batches) open.set(context, (batches = new Map()))
    let batch = batches.get(key)
    if (!batch) {
      const rows: Row[] = []
      const loaded = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        batches.delete(key)
        return load(context, rows, args)
      })
      batch = { rows, loaded }
      batches.set(key, batch)
    }
    const place = batch.rows.push(row) - 1
    const value = batch.loaded.then((loaded) => loaded[place] as Value)
    values.set(key, value)
    // A read that failed is not what the row is remembered with.
    value.catch(() => values.delete(key))
    return value
  }
}
