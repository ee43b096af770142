import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

type Shown = { title: string; tag: string; data: { url: string }; silent?: boolean }
type Handler = (event: { waitUntil(work: Promise<void>): void } & Record<string, unknown>) => void

/** The service worker in a browser of our own making: what it shows, and which page it opens. */
function startWorker({ windows = 0 } = {}) {
  const shown: Shown[] = []
  const opened: string[] = []
  const handlers = new Map<string, Handler>()
  const remove = (each: Shown) => shown.splice(shown.indexOf(each), 1)
  const self = {
    location: { origin: 'http://localhost:4010' },
    addEventListener: (type: string, handler: Handler) => handlers.set(type, handler),
    registration: {
      async showNotification(title: string, options: Omit<Shown, 'title'>) {
        const earlier = shown.find(({ tag }) => tag === options.tag)
        if (earlier) remove(earlier)
        shown.push({ title, ...options })
      },
      async getNotifications({ tag }: { tag: string }) {
        return shown.filter((each) => each.tag === tag).map((each) => ({ close: () => remove(each) }))
      },
    },
    clients: {
      matchAll: async () =>
        Array.from({ length: windows }, () => ({
          focus: async () => {},
          postMessage: ({ open }: { open: string }) => opened.push(`in the open page: ${open}`),
        })),
      openWindow: async (url: string) => opened.push(url),
    },
  }
  new Function('self', readFileSync('src/dashboard/public/service-worker.js', 'utf8'))(self)
  async function dispatch(type: string, event: Record<string, unknown>) {
    let work: Promise<void> = Promise.resolve()
    handlers.get(type)!({ ...event, waitUntil: (promise) => (work = promise) })
    await work
  }
  return {
    shown,
    opened,
    push: (message: object) => dispatch('push', { data: { json: () => message } }),
    click: () =>
      dispatch('notificationclick', {
        notification: { data: shown[0]!.data, close: () => remove(shown[0]!) },
      }),
  }
}

const message = {
  tag: '1',
  title: 'Approval request: Clean up',
  body: 'Delete acme?',
  url: 'https://gate.example/sessions/7?x=1',
}

it('shows one notification for a request, however often it is pushed', async () => {
  const worker = startWorker()
  await worker.push({ kind: 'pending', ...message })
  await worker.push({ kind: 'pending', ...message })
  await worker.push({ kind: 'pending', ...message, tag: '2' })
  expect(worker.shown.map(({ tag }) => tag)).toEqual(['1', '2'])
})

it('takes back what is resolved, and only that', async () => {
  const worker = startWorker()
  await worker.push({ kind: 'pending', ...message })
  await worker.push({ kind: 'pending', ...message, tag: '2' })
  await worker.push({ kind: 'resolved', ...message })
  expect(worker.shown.map(({ tag }) => tag)).toEqual(['2'])
})

it('opens the request on this very server when it is clicked, and nothing more', async () => {
  const worker = startWorker()
  await worker.push({ kind: 'pending', ...message })
  await worker.click()
  expect(worker.opened).toEqual(['/sessions/7?x=1'])
  expect(worker.shown).toEqual([])
})

it('has an open page go there instead of opening another', async () => {
  const worker = startWorker({ windows: 1 })
  await worker.push({ kind: 'pending', ...message })
  await worker.click()
  expect(worker.opened).toEqual(['in the open page: /sessions/7?x=1'])
})
