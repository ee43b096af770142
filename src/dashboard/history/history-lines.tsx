import { AnsweredWith } from '../elicitation/answered-with.tsx'
import { deliveryOf, endingOf, surfaceName } from '../elicitation/outcome-text.ts'
import type { HistoryLineFragment } from '../generated/graphql.ts'
import { Link } from '../routing/link.tsx'
import { Facts } from '../text/facts.tsx'
import { Ago } from '../text/moment.tsx'
import { StrangerText } from '../text/stranger-text.tsx'
import classes from './history.module.css'

/** Requests, newest first: what was asked, how it ended, who ended it, and whether the agent has the answer. */
export function HistoryLines({ lines }: { lines: readonly HistoryLineFragment[] }) {
  return (
    <ul className={classes.list} aria-label="Requests">
      {lines.map((line) => (
        <HistoryLine key={line.id} line={line} />
      ))}
    </ul>
  )
}

function HistoryLine({ line }: { line: HistoryLineFragment }) {
  const { title, tone } = endingOf(line)
  const delivery = deliveryOf(line)
  return (
    <li className={classes.line}>
      <div className={classes.head}>
        <span className={classes.ending} data-tone={tone}>
          {title}
        </span>
        <span className={classes.when}>
          <Ago at={line.respondedAt ?? line.createdAt} />
        </span>
      </div>
      <StrangerText size="sm" lineClamp={2} className={classes.summary}>
        {line.summary}
      </StrangerText>
      <AnsweredWith outcome={line} />
      <Facts>
        <span>
          <Link to={`/sessions/${line.session.id}`}>
            <bdi>{line.session.title}</bdi>
          </Link>
        </span>
        {line.serverName && (
          <span>
            <bdi>{line.serverName}</bdi>
          </span>
        )}
        {line.respondedBy && (
          <span>
            by <bdi>{line.respondedBy.name}</bdi> ({surfaceName(line.respondedBy.surface)})
          </span>
        )}
        {delivery && <span>{delivery}</span>}
      </Facts>
    </li>
  )
}
