import { expect, it } from 'vitest'
import { configurableLimits, limitCode, limitNames, limitVariable } from '../../src/base/limits.ts'
import { statusOf } from '../../src/rest/envelope.ts'
import { readPage, tableOf } from './support/markdown.ts'
import { runPage } from './support/run-page.ts'

it('docs/protocol.md: every example does what the page says', { timeout: 90_000 }, () =>
  runPage('docs/protocol.md'),
)

it('docs/protocol.md names every code of an error, with its status', async () => {
  const shown = tableOf(await readPage('docs/protocol.md'), 'status').flatMap(([status, codes]) =>
    [...codes!.matchAll(/`(\w+)`/g)].map(([, code]) => `${status} ${code}`),
  )
  // Held polls beyond their limit are answered at once, and nobody is refused.
  const { [limitCode('heldPollsPerAddress')]: _, ...told } = statusOf
  expect(shown.sort()).toEqual(
    Object.entries(told)
      .map(([code, [status]]) => `${status} ${code}`)
      .sort(),
  )
})

it('the README names every limit that can be configured, with its default', async () => {
  const rows = tableOf(await readPage('README.md'), 'variable')
  for (const limit of limitNames) {
    const row = rows.find(([name]) => name === `\`${limitVariable(limit)}\``)
    expect(row?.[1], limit).toBe(String(configurableLimits[limit].default))
  }
})
