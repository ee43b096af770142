import { redact } from '../../base/redact.ts'
import { truncate } from '../../base/text.ts'
import type { RequestFragment } from '../generated/graphql.ts'

/** `blocked`: the person said no to the browser, and only there it can be taken back. `impossible`: no secure address, or an old browser. */
export type NotificationState = 'impossible' | 'blocked' | 'off' | 'on'

const storageKey = 'holdpoint.notifications'
const messageCharactersMax = 150

export function notificationState(): NotificationState {
  if (!('Notification' in window) || !('serviceWorker' in navigator) || !window.isSecureContext)
    return 'impossible'
  if (Notification.permission === 'denied') return 'blocked'
  return Notification.permission === 'granted' && localStorage.getItem(storageKey) === 'on' ? 'on' : 'off'
}

/** Asks the browser for permission, and the server to push to this browser while no page is open. */
export async function turnOn(): Promise<NotificationState> {
  if ((await Notification.requestPermission()) !== 'granted') return notificationState()
  localStorage.setItem(storageKey, 'on')
  const registration = await navigator.serviceWorker.register('/service-worker.js')
  // Without a push service (a browser without one, no way out) an open page still notifies by itself.
  await subscribe(registration).catch(() => {})
  return notificationState()
}

export async function turnOff(): Promise<NotificationState> {
  if (notificationState() !== 'on') return notificationState()
  localStorage.removeItem(storageKey)
  const registration = await navigator.serviceWorker.getRegistration()
  const subscription = await registration?.pushManager?.getSubscription()
  if (subscription) {
    await send('DELETE', { endpoint: subscription.endpoint }).catch(() => {})
    await subscription.unsubscribe()
  }
  return notificationState()
}

async function subscribe(registration: ServiceWorkerRegistration) {
  await navigator.serviceWorker.ready
  const response = await fetch('/api/v1/push/public-key')
  if (!response.ok) return
  const { publicKey } = (await response.json()) as { publicKey: string }
  const subscription = await registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: publicKey,
  })
  await send('POST', subscription.toJSON())
}

function send(method: string, body: object): Promise<Response> {
  return fetch('/api/v1/push/subscriptions', {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** Shown by an open page that nobody looks at. The tag is the request's, so that a push of the same replaces it. */
export async function notify(request: RequestFragment): Promise<void> {
  if (notificationState() !== 'on' || document.visibilityState === 'visible') return
  const registration = await navigator.serviceWorker.ready
  const { id, toolName, message, session } = request
  await registration.showNotification(truncate(`Approval request: ${redact(session.title)}`, 100), {
    tag: id,
    body: truncate(redact(toolName ? `${toolName}: ${message}` : message), messageCharactersMax),
    data: { url: `/sessions/${session.id}` },
    icon: '/icon-192.png',
  })
}

/** Takes back what was shown of a request that is over, whoever showed it. */
export async function takeBack(id: string): Promise<void> {
  if (notificationState() !== 'on') return
  const registration = await navigator.serviceWorker.ready
  for (const notification of await registration.getNotifications({ tag: id })) notification.close()
}
