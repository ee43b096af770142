import { useNow } from '../text/clock.ts'
import { exactDate } from '../text/date-text.ts'
import { duration } from '../text/duration.ts'
import classes from './banner.module.css'

const urgentMs = 2 * 60_000

/** How long there is to answer. */
export function Countdown({ expiresAt }: { expiresAt: string }) {
  const left = Date.parse(expiresAt) - useNow()
  return (
    <time
      className={classes.countdown}
      data-urgent={left < urgentMs || undefined}
      dateTime={expiresAt}
      title={`Expires ${exactDate(expiresAt)}`}
    >
      {left > 0 ? `${duration(left)} left` : 'time is up'}
    </time>
  )
}
