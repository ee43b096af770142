/** A statement with its values apart. `name` makes PostgreSQL prepare it once a connection. */
export interface Statement {
  text: string
  values: unknown[]
  name: string
}

const prepared = new WeakMap<TemplateStringsArray, { text: string; name: string }>()
let count = 0

/**
 * sql`select * from session where id = ${id}`: every value becomes a parameter, so that no text of a stranger is ever
 * part of a statement. Each place in the source is one prepared statement.
 */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Statement {
  let statement = prepared.get(strings)
  if (!statement) {
    const text = strings.reduce((whole, part, i) => `${whole}$${i}${part}`)
    statement = { text, name: `s${++count}` }
    prepared.set(strings, statement)
  }
  return { ...statement, values }
}
