import { Stack, Title } from '@mantine/core'
import { NeedsYou } from '../attention/needs-you.tsx'
import { HomeDocument, type SessionStatus, type SessionsFragment } from '../generated/graphql.ts'
import { useLive } from '../server/live.tsx'
import { SessionLines } from '../session/session-lines.tsx'
import { statusNames } from '../session/status.tsx'
import { Standin } from '../states/failure.tsx'
import classes from './page.module.css'

export function HomePage() {
  const home = useLive(HomeDocument, {}, { concerns: (event) => event.type.startsWith('session.') })
  return (
    <Stack gap="xl">
      <NeedsYou />
      {home.data ? <ByState {...home.data} /> : <Standin of={home} />}
    </Stack>
  )
}

type States = Record<'running' | 'waiting' | 'failed' | 'archived', SessionsFragment>

function ByState({ running, waiting, failed, archived }: States) {
  const states: [SessionStatus, SessionsFragment][] = [
    ['RUNNING', running],
    ['FAILED', failed],
    ['WAITING', waiting],
    ['ARCHIVED', archived],
  ]
  return states.map(([status, { totalCount, edges }]) =>
    totalCount === 0 ? null : (
      <section key={status} aria-labelledby={`state-${status}`}>
        <Title order={2} id={`state-${status}`} className={classes.sectionTitle}>
          {statusNames[status]} <span className={classes.number}>{totalCount}</span>
        </Title>
        <SessionLines sessions={edges.map(({ node }) => node)} label={`${statusNames[status]} sessions`} />
        {totalCount > edges.length && <p className={classes.more}>The newest {edges.length} are shown.</p>}
      </section>
    ),
  )
}
