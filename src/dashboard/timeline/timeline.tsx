import type { TimelineLineFragment } from '../generated/graphql.ts'
import { Ago } from '../text/moment.tsx'
import { StrangerText } from '../text/stranger-text.tsx'
import { actorText, eventText } from './event-text.ts'
import classes from './timeline.module.css'

/** What happened, in its order: what is new comes below, and moves nothing. */
export function Timeline({ events }: { events: readonly TimelineLineFragment[] }) {
  return (
    <ol className={classes.timeline}>
      {events.map((event) => {
        const { title, detail } = eventText(event)
        return (
          <li key={event.cursor} className={classes.event}>
            <span className={classes.title}>
              <bdi>{title}</bdi>
            </span>
            <span className={classes.by}>
              <bdi>{actorText(event.actor)}</bdi> · <Ago at={event.at} />
            </span>
            {detail && (
              <StrangerText component="div" className={classes.detail}>
                {detail}
              </StrangerText>
            )}
          </li>
        )
      })}
    </ol>
  )
}
