import { useCallback, useEffect, useMemo, useState } from 'react'
import { type Client, Provider } from 'urql'
import { AttentionProvider } from './attention/attention.tsx'
import { StartDocument, type StartQuery } from './generated/graphql.ts'
import { SignInPage } from './pages/sign-in.tsx'
import { createGraphqlClient } from './server/client.ts'
import { createFeed } from './server/feed.ts'
import { FeedProvider } from './server/live.tsx'
import { Announcer } from './shell/announcer.tsx'
import { Shell } from './shell/shell.tsx'
import { Unreachable } from './states/unreachable.tsx'
import { ViewerProvider } from './viewer/viewer.tsx'

type Standing =
  | { is: 'asking' }
  | { is: 'unreachable' }
  /** `ended`: somebody was signed in on this page until now. */
  | { is: 'signed-out'; ended: boolean }
  | { is: 'signed-in'; start: StartQuery }

const askAgainMs = 2_000

export function App() {
  const [standing, setStanding] = useState<Standing>({ is: 'asking' })
  // One client for each time somebody signs in: nothing of what one key may see is left for the next.
  const [turn, setTurn] = useState(0)
  const onSignedOut = useCallback(
    () =>
      setStanding((was) =>
        was.is === 'signed-out' ? was : { is: 'signed-out', ended: was.is === 'signed-in' },
      ),
    [],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new turn is a new client
  const client = useMemo(() => createGraphqlClient({ onSignedOut }), [onSignedOut, turn])

  const ask = useCallback(async () => {
    const result = await client.query(StartDocument, {}, { requestPolicy: 'network-only' }).toPromise()
    if (result.data) setStanding({ is: 'signed-in', start: result.data })
    else if (result.error?.response?.status !== 401)
      setStanding((was) => (was.is === 'asking' ? { is: 'unreachable' } : was))
  }, [client])

  const waiting = standing.is === 'asking' || standing.is === 'unreachable'
  useEffect(() => {
    if (!waiting) return
    // A link to sign in with is meant for somebody else than whoever is signed in already.
    if (location.pathname === '/sign-in' && location.hash.length > 1) {
      setStanding({ is: 'signed-out', ended: false })
      return
    }
    void ask()
    const timer = setInterval(() => void ask(), askAgainMs)
    return () => clearInterval(timer)
  }, [waiting, ask])

  switch (standing.is) {
    case 'asking':
      return null
    case 'unreachable':
      return <Unreachable />
    case 'signed-out':
      return (
        <SignInPage
          ended={standing.ended}
          onSignedIn={() => {
            setTurn((last) => last + 1)
            setStanding({ is: 'asking' })
          }}
        />
      )
    case 'signed-in':
      return <SignedIn client={client} start={standing.start} onSignedOut={onSignedOut} />
  }
}

function SignedIn(props: { client: Client; start: StartQuery; onSignedOut: () => void }) {
  const { client, start, onSignedOut } = props
  const { viewer, eventCursor } = start
  const feed = useMemo(
    () => createFeed({ client, onSignedOut, after: eventCursor }),
    [client, onSignedOut, eventCursor],
  )
  useEffect(() => feed.start(), [feed])
  return (
    <Provider value={client}>
      <ViewerProvider value={viewer}>
        <FeedProvider value={feed}>
          <Announcer />
          <AttentionProvider initial={start}>
            <Shell onSignedOut={onSignedOut} />
          </AttentionProvider>
        </FeedProvider>
      </ViewerProvider>
    </Provider>
  )
}
