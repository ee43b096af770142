import { Stack, Title } from '@mantine/core'
import { useMemo } from 'react'
import { ClearGone } from '../attention/clear-gone.tsx'
import { regionNames } from '../attention/region-name.ts'
import { useSteadyList } from '../attention/steady-list.ts'
import { Banner } from '../elicitation/banner.tsx'
import { DismissAll } from '../elicitation/dismiss-all.tsx'
import { type RequestFragment, SessionDocument, type SessionQuery } from '../generated/graphql.ts'
import { LostBanner } from '../lost/lost-banner.tsx'
import { Link } from '../routing/link.tsx'
import { useLive } from '../server/live.tsx'
import { ProcessFacts } from '../session/process-facts.tsx'
import { runtimeNames } from '../session/runtime.ts'
import { SessionActions } from '../session/session-actions.tsx'
import { Status } from '../session/status.tsx'
import { NothingHere } from '../states/empty.tsx'
import { Standin } from '../states/failure.tsx'
import { Ago } from '../text/moment.tsx'
import { StrangerText } from '../text/stranger-text.tsx'
import { useSteadyEvents } from '../timeline/steady-events.ts'
import { Timeline } from '../timeline/timeline.tsx'
import { useViewer } from '../viewer/viewer.tsx'
import classes from './page.module.css'

const presenceEveryMs = 10_000
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function SessionPage({ params }: { params: Record<string, string> }) {
  const reference = params.id ?? ''
  const live = useLive(SessionDocument, uuid.test(reference) ? { id: reference } : { slug: reference }, {
    concerns: (event) => !event.session || event.session.id === reference || !uuid.test(reference),
    everyMs: presenceEveryMs,
  })
  if (!live.data) return <Standin of={live} />
  if (!live.data.session) {
    return (
      <NothingHere title="There is no such session">
        Nothing has the id or slug “<bdi>{reference}</bdi>”. All sessions are on the{' '}
        <Link to="/">home page</Link>.
      </NothingHere>
    )
  }
  return <Session key={live.data.session.id} session={live.data.session} />
}

function Session({ session }: { session: NonNullable<SessionQuery['session']> }) {
  const { may } = useViewer()
  const { lostElicitation, process, timeline } = session
  const newest = useMemo(() => timeline.edges.map(({ node }) => node), [timeline])
  const { events, olderExist } = useSteadyEvents(newest, timeline.pageInfo.hasPreviousPage)
  return (
    <Stack gap="lg">
      <div>
        <Title order={1} style={{ overflowWrap: 'anywhere' }}>
          <bdi>{session.title}</bdi>
        </Title>
        <div className={classes.standing}>
          <Status status={session.status} />
          <span>
            {runtimeNames[session.runtime]} · created <Ago at={session.createdAt} />
          </span>
        </div>
      </div>
      <div className={classes.columns}>
        <Stack gap="lg">
          <Requests requests={session.pendingElicitations} />
          {may('answer') && <DismissAll requests={session.pendingElicitations} />}
          {lostElicitation && <LostBanner lost={lostElicitation} />}
          {session.failureReason && (
            <StrangerText size="sm" c="var(--hp-bad)">
              {session.failureReason}
            </StrangerText>
          )}
        </Stack>
        <Stack gap="lg">
          {may('launch') && (
            <SessionActions
              id={session.id}
              status={session.status}
              blocked={session.blockedOnElicitation}
              pendingCount={session.pendingElicitations.length}
            />
          )}
          <dl className={classes.facts}>
            <dt>Slug</dt>
            <dd>{session.slug}</dd>
            {session.workingDirectory && (
              <>
                <dt>Folder</dt>
                <dd>
                  <bdi>{session.workingDirectory}</bdi>
                </dd>
              </>
            )}
            <ProcessFacts process={process} />
            <dt>Requests</dt>
            <dd>
              <Link to={`/history?session=${session.id}`}>all of this session</Link>
            </dd>
          </dl>
          <section aria-labelledby="timeline">
            <Title order={2} id="timeline" className={classes.sectionTitle}>
              Timeline
            </Title>
            {olderExist && (
              <p className={classes.more}>
                The newest {events.length} of {timeline.totalCount} are shown.
              </p>
            )}
            <Timeline events={events} />
          </section>
        </Stack>
      </div>
    </Stack>
  )
}

function Requests({ requests }: { requests: readonly RequestFragment[] }) {
  const { kept, clear, clearGone } = useSteadyList(requests, ({ id }) => id)
  const names = regionNames(kept.filter(({ present }) => present).map(({ key }) => key))
  const gone = kept.filter(({ present }) => !present).length
  if (kept.length === 0)
    return <p className={classes.nothing}>No request of this session waits for an answer.</p>
  return (
    <Stack gap="sm">
      {kept.map(({ key, item, present }) => (
        <Banner
          key={key}
          request={item}
          pending={present}
          name={names.get(key) ?? 'Approval request'}
          withSession={false}
          onClear={clear}
        />
      ))}
      <ClearGone count={gone} onClear={clearGone} />
    </Stack>
  )
}
