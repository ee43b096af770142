import { GraphQLError } from 'graphql'
import { isUuid } from '../base/ids.ts'
import { builder, pageSizeDefault, pageSizeMax } from './builder.ts'

export interface PageArgs {
  first?: number | null
  after?: string | null
  last?: number | null
  before?: string | null
}

/** What to read for a page: one row more than is shown, to see whether there is another page. */
export interface Slice<Cursor> {
  after: Cursor | null
  before: Cursor | null
  backward: boolean
  limit: number
}

export function badInput(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } })
}

/** `cursorOf` reads a cursor; it returns null for what is none. Pages hold `pageSizeMax` rows at most. */
export function sliceOf<Cursor>(
  { first, after, last, before }: PageArgs,
  cursorOf: (text: string) => Cursor | null,
): Slice<Cursor> {
  if (first != null && last != null) throw badInput('Use `first` or `last`, not both.')
  const size = first ?? last ?? pageSizeDefault
  if (size < 0) throw badInput('`first` and `last` cannot be negative.')
  const read = (name: string, text: string | null | undefined) => {
    if (text == null) return null
    const cursor = cursorOf(text)
    if (cursor === null)
      throw badInput(`\`${name}\` is not a cursor of this list. Take one from \`pageInfo\` or an edge.`)
    return cursor
  }
  return {
    after: read('after', after),
    before: read('before', before),
    backward: last != null,
    limit: Math.min(size, pageSizeMax) + 1,
  }
}

/** The cursor of a list that goes by the ids of its rows. */
export function idCursorOf(text: string): string | null {
  return isUuid(text) ? text : null
}

/** The page that rows read for `slice` make; rows of a backward slice come last first. */
export function pageOf<Row, Cursor>(
  rows: readonly Row[],
  { after, before, backward, limit }: Slice<Cursor>,
  cursorOf: (row: Row) => string,
  totalCount: () => number | Promise<number>,
) {
  const more = rows.length >= limit
  const shown = rows.slice(0, limit - 1)
  if (backward) shown.reverse()
  const edges = shown.map((node) => ({ cursor: cursorOf(node), node }))
  return {
    edges,
    pageInfo: {
      hasNextPage: backward ? before !== null : more,
      hasPreviousPage: backward ? more : after !== null,
      startCursor: edges.at(0)?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount,
  }
}

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    description: 'How many there are on all pages together.',
    resolve: ({ totalCount }) => totalCount(),
  }),
)

/** What a connection costs: a page of nodes. */
export const pageComplexity = ({ first, last }: PageArgs) => ({
  field: 1,
  multiplier: Math.min(Math.max(first ?? last ?? pageSizeDefault, 0), pageSizeMax),
})
