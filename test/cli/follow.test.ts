import { expect, test } from 'vitest'
import { type BannersData, bannersDocument } from '../../src/cli/documents.ts'
import { follow } from '../../src/cli/follow.ts'
import { createSession, post } from '../support/ask.ts'
import { adminKey, startServer } from '../support/server.ts'

test('goes on from the end of a timeline that has become shorter, and says why', async () => {
  await using server = await startServer()
  const over = new AbortController()
  const lost: string[] = []
  const found = Promise.withResolvers<void>()
  const raised = Promise.withResolvers<string>()
  const following = follow<BannersData>(
    { url: server.url, apiKey: adminKey, key: 'own' },
    {
      document: bannersDocument,
      after: '1000000',
      cursorOf: ({ banners }) => banners.cursor,
      onData({ banners }) {
        if (banners.__typename === 'ElicitationBannerRaised') raised.resolve(banners.elicitation.message)
      },
      onLost: (reason) => lost.push(reason),
      onFound: () => found.resolve(),
      signal: over.signal,
    },
  )
  await found.promise
  await post(server, (await createSession(server)).id, { message: 'After the restore?' })
  expect(await raised.promise).toBe('After the restore?')
  expect(lost).toEqual([expect.stringContaining('restored from an older copy')])
  over.abort()
  await following
})
