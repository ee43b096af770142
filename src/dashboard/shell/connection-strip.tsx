import { Text } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { useFeedState } from '../server/live.tsx'
import classes from './shell.module.css'

function subscribe(listener: () => void) {
  window.addEventListener('online', listener)
  window.addEventListener('offline', listener)
  return () => {
    window.removeEventListener('online', listener)
    window.removeEventListener('offline', listener)
  }
}

/**
 * Says when what is on the page may be old. It lies over the page, so that its coming and going moves nothing;
 * a connection that is back within a moment is not worth a word (that is in the style).
 */
export function ConnectionStrip() {
  const state = useFeedState()
  const online = useSyncExternalStore(subscribe, () => navigator.onLine)
  if (state !== 'reconnecting' && online) return null
  return (
    <div className={classes.strip} role="status">
      <Text size="sm" fw={500}>
        {online ? 'Reconnecting…' : 'You are offline.'} What you see may be old.
      </Text>
    </div>
  )
}
