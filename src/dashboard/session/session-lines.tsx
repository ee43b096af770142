import type { SessionLineFragment } from '../generated/graphql.ts'
import { Link } from '../routing/link.tsx'
import { Ago } from '../text/moment.tsx'
import { StrangerText } from '../text/stranger-text.tsx'
import classes from './session.module.css'

/** Sessions, one line each; a second one only where something went wrong. */
export function SessionLines({
  sessions,
  label,
}: {
  sessions: readonly SessionLineFragment[]
  label: string
}) {
  return (
    <ul className={classes.list} aria-label={label}>
      {sessions.map((session) => (
        <li key={session.id} className={classes.line}>
          <span className={classes.title}>
            <Link to={`/sessions/${session.id}`}>
              <bdi>{session.title}</bdi>
            </Link>
          </span>
          <span className={classes.when}>
            <Ago at={session.updatedAt} />
          </span>
          {session.failureReason && (
            <StrangerText component="div" className={classes.detail} data-tone="bad">
              {session.failureReason}
            </StrangerText>
          )}
          {session.lostElicitation && (
            <div className={classes.detail} data-tone="warning">
              {session.lostElicitation.reason === 'EXPIRED'
                ? 'An approval request expired'
                : 'An approval request was lost'}
              {session.lostElicitation.summary && (
                <>
                  {': '}
                  <bdi>{session.lostElicitation.summary}</bdi>
                </>
              )}
            </div>
          )}
        </li>
      ))}
    </ul>
  )
}
