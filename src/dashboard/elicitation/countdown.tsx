import { useNow } from '../text/clock.ts'
import { duration } from '../text/duration.ts'
import classes from './banner.module.css'

const urgentMs = 2 * 60_000

/** How long there is to answer. */
export function Countdown({ expiresAt }: { expiresAt: string }) {
  const left = Date.parse(expiresAt) - useNow()
  const exact = new Date(expiresAt).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'medium' })
  return (
    <time
      className={classes.countdown}
      data-urgent={left < urgentMs || undefined}
      dateTime={expiresAt}
      title={`Expires ${exact}`}
    >
      {left > 0 ? `${duration(left)} left` : 'time is up'}
    </time>
  )
}
