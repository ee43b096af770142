import { newToken } from '../base/ids.ts'
import type { Queryable } from './database.ts'
import { sql } from './sql.ts'

/** A secret that every server process of this database shares, made by whichever comes first. */
export async function sharedSecret(on: Queryable, name: string, make = () => newToken(32)): Promise<string> {
  await on.query(
    sql`insert into secret (name, value) values (${name}, ${make()}) on conflict (name) do nothing`,
  )
  const [row] = await on.query<{ value: string }>(sql`select value from secret where name = ${name}`)
  return row!.value
}
