import { type ComponentType, lazy } from 'react'

export type Route = {
  path: string
  /** In the browser's tab, before the product's name. */
  title: string
  page: ComponentType<{ params: Record<string, string> }>
}

export const routes: Route[] = [
  {
    path: '/',
    title: '',
    page: lazy(async () => ({ default: (await import('../pages/home.tsx')).HomePage })),
  },
  {
    path: '/sessions/:id',
    title: 'Session',
    page: lazy(async () => ({ default: (await import('../pages/session.tsx')).SessionPage })),
  },
  {
    path: '/history',
    title: 'History',
    page: lazy(async () => ({ default: (await import('../pages/history.tsx')).HistoryPage })),
  },
  {
    path: '/gate',
    title: 'Gate',
    page: lazy(async () => ({ default: (await import('../pages/gate.tsx')).GatePage })),
  },
  {
    path: '/keys',
    title: 'Keys',
    page: lazy(async () => ({ default: (await import('../pages/keys.tsx')).KeysPage })),
  },
]

export const notFound: Route = {
  path: '*',
  title: 'Not found',
  page: lazy(async () => ({ default: (await import('../pages/not-found.tsx')).NotFoundPage })),
}

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
