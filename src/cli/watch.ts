import { createApi } from './api.ts'
import { findConnection } from './connection.ts'
import { type Banner, type BannersData, bannersDocument, type QueueData, queueDocument } from './documents.ts'
import { follow } from './follow.ts'
import { findSession } from './launch.ts'
import { queueLengthMax } from './pending.ts'
import { exitCodes, Problem } from './problem.ts'
import { endText, requestLine, requestText } from './request-text.ts'
import { quotedLine, type Terminal } from './terminal.ts'

export interface WatchOptions {
  session?: string
  json?: boolean
}

/** Close codes and error codes after which the same key will not be let in again. */
const hopeless = new Set<number | string>([4401, 4403, 'UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND'])

/** Shows requests as they come and go, those that wait already first, until it is interrupted. */
export async function watch(
  { session: reference, json = false }: WatchOptions,
  terminal: Terminal,
): Promise<number> {
  const connection = await findConnection(terminal.environment)
  const api = createApi(connection)
  const session = reference === undefined ? null : await findSession(api, reference)
  const { eventCursor, attentionQueue } = await api.request<QueueData>(queueDocument, {
    first: queueLengthMax,
  })
  for (const { node } of attentionQueue.edges)
    for (const elicitation of node.pendingElicitations)
      if (session === null || node.id === session.id)
        show({ __typename: 'ElicitationBannerRaised', cursor: eventCursor, elicitation })
  if (!json) terminal.note(`holdpoint: watching ${connection.url}; Ctrl-C ends it`)

  function show(banner: Banner): void {
    if (json) terminal.say(JSON.stringify(banner))
    else for (const line of bannerLines(banner)) terminal.say(line)
  }

  const over = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => over.abort())
  await follow<BannersData>(connection, {
    document: bannersDocument,
    variables: { sessionId: session?.id ?? null },
    after: eventCursor,
    cursorOf: ({ banners }) => banners.cursor,
    onData: ({ banners }) => show(banners),
    onLost: (reason) => terminal.note(`holdpoint: the connection is lost (${reason}); trying again`),
    onFound: () => terminal.note('holdpoint: connected again'),
    hopeless: (code) =>
      hopeless.has(code)
        ? new Problem(
            'The server ended the watch: the key is not, or no longer, allowed to. Set HOLDPOINT_API_KEY to another one.',
            exitCodes.notAllowed,
          )
        : null,
    signal: over.signal,
  })
  return exitCodes.done
}

function bannerLines(banner: Banner): string[] {
  switch (banner.__typename) {
    case 'ElicitationBannerRaised':
      return ['? asked', ...requestText(banner.elicitation)]
    case 'ElicitationBannerRemoved':
      return [
        `✓ ended  ${requestLine(banner.elicitation).replace(/ \(expires [^)]*\)$/, '')}: ${endText(banner.elicitation)}`,
      ]
    case 'LostElicitationBannerRaised':
      return [
        `! lost   ${quotedLine(banner.session.title)}: ${banner.lostElicitation.reason === 'EXPIRED' ? 'nobody answered in time, and the agent went on without approval' : 'the round trip never completed'}: ${quotedLine(banner.lostElicitation.summary ?? '')}`,
      ]
    case 'LostElicitationBannerCleared':
      return [`  moved on  ${quotedLine(banner.session.title)}`]
  }
}
