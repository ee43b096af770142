import { type ComponentType, lazy } from 'react'

type Page = ComponentType<{ params: Record<string, string> }>

export type Route = {
  path: string
  /** In the browser's tab, before the product's name. */
  title: string
  page: Page
  /** Fetches the page's code, which is otherwise fetched when it is first shown. */
  load(): void
}

function route(path: string, title: string, load: () => Promise<Page>): Route {
  return {
    path,
    title,
    page: lazy(async () => ({ default: await load() })),
    // Should it fail, whoever shows the page fails too, and says so.
    load: () => void load().catch(() => {}),
  }
}

export const routes: Route[] = [
  route('/', '', async () => (await import('../pages/home.tsx')).HomePage),
  route('/sessions/:id', 'Session', async () => (await import('../pages/session.tsx')).SessionPage),
  route('/history', 'History', async () => (await import('../pages/history.tsx')).HistoryPage),
  route('/gate', 'Gate', async () => (await import('../pages/gate.tsx')).GatePage),
  route('/keys', 'Keys', async () => (await import('../pages/keys.tsx')).KeysPage),
]

export const notFound = route(
  '*',
  'Not found',
  async () => (await import('../pages/not-found.tsx')).NotFoundPage,
)

export function routeOf(pathname: string): { route: Route; params: Record<string, string> } {
  for (const route of routes) {
    const params = match(route.path, pathname)
    if (params) return { route, params }
  }
  return { route: notFound, params: {} }
}

function match(path: string, pathname: string): Record<string, string> | null {
  const wanted = path.split('/')
  const given = pathname.replace(/(.)\/$/, '$1').split('/')
  if (wanted.length !== given.length) return null
  const params = new Map<string, string>()
  for (const [index, part] of wanted.entries()) {
    const actual = given[index]!
    if (part.startsWith(':')) params.set(part.slice(1), decoded(actual))
    else if (part !== actual) return null
  }
  return Object.fromEntries(params)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
