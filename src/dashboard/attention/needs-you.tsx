import { CloseButton, Stack, Text, Title } from '@mantine/core'
import { startTransition, useEffect, useMemo, useState } from 'react'
import { Banner } from '../elicitation/banner.tsx'
import type { AttentionSessionFragment, RequestFragment } from '../generated/graphql.ts'
import { Link } from '../routing/link.tsx'
import sessionClasses from '../session/session.module.css'
import { Empty } from '../states/empty.tsx'
import { Standin } from '../states/failure.tsx'
import { Ago } from '../text/moment.tsx'
import classes from './attention.module.css'
import { useAttention } from './attention.tsx'
import { ClearGone } from './clear-gone.tsx'
import { regionNames } from './region-name.ts'
import { useSteadyList } from './steady-list.ts'

type Matter = { key: string; request: RequestFragment } | { key: string; session: AttentionSessionFragment }

/** Everything that waits for a person: each request with its form, each session whose turn has ended. */
export function NeedsYou() {
  const attention = useAttention()
  const { data, sessions } = attention
  const matters = useMemo(() => mattersOf(sessions), [sessions])
  const { kept, clear, clearGone } = useSteadyList(matters, ({ key }) => key)
  const names = regionNames(
    kept.filter(({ item, present }) => present && 'request' in item).map(({ key }) => key),
  )
  const shown = useFirstFew(kept)
  const total = data?.attentionQueue.totalCount ?? 0
  const gone = kept.filter(({ present }) => !present).length
  return (
    <section aria-labelledby="needs-you">
      <div className={classes.heading}>
        <Title order={1} id="needs-you">
          Needs you {data && <span className={classes.number}>{total}</span>}
        </Title>
        <ClearGone count={gone} onClear={clearGone} />
      </div>
      <Standin of={attention} />
      {data && kept.length === 0 && (
        <Empty title="Nothing needs you">
          A request shows up here the moment an agent has to wait for you. Start one with{' '}
          <code>holdpoint run</code>, or see the <Link to="/gate">gate</Link> for how to connect your own.
        </Empty>
      )}
      <Stack gap="sm">
        {shown.map(({ key, item, present }) =>
          'request' in item ? (
            <Banner
              key={key}
              request={item.request}
              pending={present}
              name={names.get(key) ?? 'Approval request'}
              withSession
              onClear={clear}
            />
          ) : (
            <PausedSession key={key} session={item.session} present={present} onClear={() => clear(key)} />
          ),
        )}
      </Stack>
      {total > sessions.length && (
        <Text size="sm" c="dimmed" mt="sm">
          {sessions.length} of {total} sessions are shown; the others follow as these are answered.
        </Text>
      )}
    </section>
  )
}

const firstFew = 6

/** What the screen can hold at once, then all of it: nobody waits for what is far below. */
function useFirstFew<Item>(items: readonly Item[]): readonly Item[] {
  const [all, setAll] = useState(false)
  useEffect(() => startTransition(() => setAll(true)), [])
  return all ? items : items.slice(0, firstFew)
}

function mattersOf(sessions: readonly AttentionSessionFragment[]): Matter[] {
  return sessions.flatMap((session): Matter[] =>
    session.pendingElicitations.length > 0
      ? session.pendingElicitations.map((request) => ({ key: request.id, request }))
      : [{ key: session.id, session }],
  )
}

function PausedSession(props: { session: AttentionSessionFragment; present: boolean; onClear: () => void }) {
  const { session, present, onClear } = props
  const { lostElicitation: lost } = session
  return (
    <div className={sessionClasses.attention} data-gone={!present || undefined}>
      <span className={sessionClasses.title}>
        <Link to={`/sessions/${session.id}`}>
          <bdi>{session.title}</bdi>
        </Link>
      </span>
      {present ? (
        <span className={sessionClasses.when}>
          turn ended {session.needsInputSince && <Ago at={session.needsInputSince} />}
        </span>
      ) : (
        <span className={sessionClasses.when}>
          no longer waiting{' '}
          <CloseButton
            size="xs"
            display="inline-flex"
            aria-label={`Clear ${session.title}`}
            title="Clear"
            onClick={onClear}
          />
        </span>
      )}
      {present && lost && (
        <div className={sessionClasses.detail} data-tone="warning">
          {lost.reason === 'EXPIRED' ? 'Approval request expired' : 'Approval request lost'}
          {lost.summary && (
            <>
              {': '}
              <bdi>{lost.summary}</bdi>
            </>
          )}
        </div>
      )}
    </div>
  )
}
