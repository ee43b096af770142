import { useSyncExternalStore } from 'react'

const changed = new EventTarget()

function subscribe(listener: () => void) {
  changed.addEventListener('change', listener)
  window.addEventListener('popstate', listener)
  return () => {
    changed.removeEventListener('change', listener)
    window.removeEventListener('popstate', listener)
  }
}

const here = () => `${location.pathname}${location.search}`

/** The path and query in the address bar. */
export function useAddress(): URL {
  return new URL(useSyncExternalStore(subscribe, here), location.origin)
}

/** Goes to another page as a link does, or changes the query of this one in place. */
export function navigate(to: string, options: { replace?: boolean } = {}) {
  if (options.replace) history.replaceState(null, '', to)
  else {
    history.pushState(null, '', to)
    window.scrollTo(0, 0)
  }
  changed.dispatchEvent(new Event('change'))
}
