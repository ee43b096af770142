import { useNow } from './clock.ts'
import { briefDate, exactDate } from './date-text.ts'
import { since } from './duration.ts'

export function Moment({ at }: { at: string }) {
  return <time dateTime={at}>{briefDate(at)}</time>
}

/** How long ago, with the exact moment for whoever asks. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exactDate(at)}>
      {since(useNow() - Date.parse(at))}
    </time>
  )
}
