import { useNow } from './clock.ts'
import { since } from './duration.ts'

/** A moment in the reader's own calendar and zone. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at}>
      {new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}
    </time>
  )
}

/** How long ago, with the exact moment for whoever asks. */
export function Ago({ at }: { at: string }) {
  const now = useNow()
  const exact = new Date(at).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'medium' })
  return (
    <time dateTime={at} title={exact}>
      {since(now - Date.parse(at))}
    </time>
  )
}
