import { Anchor } from '@mantine/core'
import { useEffect, useState } from 'react'
import { navigate } from '../routing/location.ts'
import { notificationState, turnOff, turnOn } from './notifications.ts'

/** Whether this browser tells its person; nobody is asked before they ask for it. */
export function NotificationSetting() {
  const [state, setState] = useState(notificationState)
  useOpenedNotifications()
  if (state === 'impossible') return null
  if (state === 'blocked') return <span>Notifications are blocked in the browser’s settings</span>
  const on = state === 'on'
  return (
    <span>
      Notifications are {state}{' '}
      <Anchor
        component="button"
        type="button"
        size="sm"
        onClick={() => void (on ? turnOff() : turnOn()).then(setState, () => setState(notificationState()))}
      >
        {on ? 'Turn off' : 'Turn on'}
      </Anchor>
    </span>
  )
}

/** A notification that is clicked brings this page to the front and has it go there. */
function useOpenedNotifications() {
  useEffect(() => {
    if (!('serviceWorker' in navigator)) return
    const open = ({ data }: MessageEvent<{ open?: unknown }>) => {
      if (typeof data.open === 'string') navigate(data.open)
    }
    navigator.serviceWorker.addEventListener('message', open)
    return () => navigator.serviceWorker.removeEventListener('message', open)
  }, [])
}
