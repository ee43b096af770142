import { Suspense, useEffect, useRef } from 'react'
import { useAttention } from '../attention/attention.tsx'
import { Link } from '../routing/link.tsx'
import { useAddress } from '../routing/location.ts'
import { routeOf } from '../routing/routes.tsx'
import { ErrorBoundary } from '../states/error-boundary.tsx'
import { PageLoading } from '../states/loading.tsx'
import { useViewer } from '../viewer/viewer.tsx'
import { ConnectionStrip } from './connection-strip.tsx'
import { accountId, Footer } from './footer.tsx'
import { Logo } from './logo.tsx'
import classes from './shell.module.css'
import { useTabTitle } from './tab-title.ts'

/** The frame around every page. */
export function Shell({ onSignedOut }: { onSignedOut: () => void }) {
  const { pathname } = useAddress()
  const { may } = useViewer()
  const attention = useAttention()
  const count = attention.data?.attentionQueue.totalCount ?? 0
  const { route, params } = routeOf(pathname)
  useTabTitle(count, route.title)
  const main = useFocusOnNewPage(pathname)
  const { page: Page } = route
  const tabs = [
    { to: '/', name: 'Home' },
    { to: '/history', name: 'History' },
    { to: '/gate', name: 'Gate' },
    ...(may('administer') ? [{ to: '/keys', name: 'Keys' }] : []),
  ]
  return (
    <>
      <a className={classes.skip} href="#main">
        Skip to the content
      </a>
      <header className={classes.header}>
        <div className={classes.bar}>
          <Link to="/" className={classes.brand}>
            <Logo />
            <span className={classes.name}>Holdpoint</span>
          </Link>
          <nav aria-label="Pages" className={classes.pages}>
            <ul className={classes.nav}>
              {tabs.map(({ to, name }) => (
                <li key={to}>
                  <Link to={to} className={classes.tab} current={pathname === to}>
                    {name}
                    {to === '/' && count > 0 && (
                      <span
                        className={classes.count}
                        title={`${count} ${count === 1 ? 'session needs' : 'sessions need'} you`}
                      >
                        {count}
                      </span>
                    )}
                  </Link>
                </li>
              ))}
            </ul>
          </nav>
          <Who />
        </div>
      </header>
      <ConnectionStrip />
      <main id="main" ref={main} tabIndex={-1} className={classes.main}>
        <ErrorBoundary key={pathname}>
          <Suspense fallback={<PageLoading />}>
            <Page params={params} />
          </Suspense>
        </ErrorBoundary>
      </main>
      <Footer onSignedOut={onSignedOut} />
    </>
  )
}

/** Whose key this page uses; on a phone the initial has to do. Sign-out and the rest are at the foot of the page. */
function Who() {
  const { name, role } = useViewer()
  const roleName = role.toLowerCase()
  return (
    <a href={`#${accountId}`} className={classes.who} aria-label={`Signed in as ${name} (${roleName})`}>
      <bdi className={classes.whoName}>{name}</bdi>
      {name !== roleName && <span className={classes.whoRole}>{roleName}</span>}
      <span className={classes.initial} aria-hidden="true">
        {[...name][0]?.toUpperCase()}
      </span>
    </a>
  )
}

/** A page that is gone to starts at its top for the keyboard too; the first one keeps the browser's own start. */
function useFocusOnNewPage(pathname: string) {
  const main = useRef<HTMLElement>(null)
  const last = useRef(pathname)
  useEffect(() => {
    if (last.current === pathname) return
    last.current = pathname
    main.current?.focus({ preventScroll: true })
  }, [pathname])
  return main
}
