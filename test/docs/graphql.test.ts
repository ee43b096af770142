import { expect, it } from 'vitest'
import { pageSizeDefault, pageSizeMax } from '../../src/graphql/builder.ts'
import { graphqlBodyBytesMax, operationLimits } from '../../src/graphql/server/limits.ts'
import { closeCodes } from '../../src/graphql/server/websocket.ts'
import { readPage, tableOf } from './support/markdown.ts'
import { runPage } from './support/run-page.ts'

const page = await readPage('docs/graphql.md')

it('docs/graphql.md: every example does what the page says', { timeout: 90_000 }, () =>
  runPage('docs/graphql.md'),
)

it('docs/graphql.md names every code that a socket is closed with', () => {
  const shown = tableOf(page, 'the socket closes with').map(([code]) => Number(code))
  expect(shown).toEqual(Object.values(closeCodes))
})

it('docs/graphql.md names the limits as they are', () => {
  const shown = Object.fromEntries(tableOf(page, 'of one operation'))
  const { tokensMax, depthMax, complexityMax, aliasesMax, directivesMax, batchMax } = operationLimits
  expect(shown).toMatchObject({
    tokens: tokensMax.toLocaleString('en'),
    levels: String(depthMax),
    'fields, if every list were as long as it may be': complexityMax.toLocaleString('en'),
    'aliases; directives': `${aliasesMax}; ${directivesMax}`,
    'rows of a page': `${pageSizeMax} (${pageSizeDefault} when \`first\` is left out)`,
    'operations in one HTTP request; bytes of it': `${batchMax}; ${graphqlBodyBytesMax / 1024 / 1024} MiB`,
  })
})
