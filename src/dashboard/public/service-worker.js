// Shows what the server pushes while no page is open. It caches nothing and answers no request: a page that looks live
// and is not would be worse than none.

self.addEventListener('push', (event) => {
  event.waitUntil(tell(event.data.json()))
})

// One tag is one notification: the page shows its own under the same one, and whoever comes second replaces the first silently.
async function tell({ kind, tag, title, body, url }) {
  const options = { tag, body, data: { url }, icon: '/icon-192.png', badge: '/icon-192.png' }
  if (kind === 'pending') {
    await self.registration.showNotification(title, options)
    return
  }
  // Browsers want every push to show something; what is over is shown without a sound and taken back with the rest.
  await self.registration.showNotification(title, { ...options, silent: true })
  for (const notification of await self.registration.getNotifications({ tag })) notification.close()
}

// Opens the request, nothing more: no notification answers anything.
self.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(event.notification.data.url))
})

async function open(url) {
  const target = new URL(url, self.location.origin)
  // The address that links use may be another name of this server; the page to go to is on this one.
  const path = target.pathname + target.search
  const [window] = await self.clients.matchAll({ type: 'window' })
  if (!window) {
    await self.clients.openWindow(path)
    return
  }
  await window.focus()
  window.postMessage({ open: path })
}
