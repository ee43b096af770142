import { Button, PasswordInput, Text, Title } from '@mantine/core'
import '@mantine/core/styles/PasswordInput.layer.css'
import { useEffect, useRef, useState } from 'react'
import { navigate } from '../routing/location.ts'
import { signIn } from '../server/sign-in.ts'
import { Logo } from '../shell/logo.tsx'
import { useTabTitle } from '../shell/tab-title.ts'
import classes from './sign-in.module.css'

/** Sign in with a key, or by a one-time link whose token stands in the fragment, where no server log sees it. */
export function SignInPage({ ended, onSignedIn }: { ended: boolean; onSignedIn: () => void }) {
  const [key, setKey] = useState('')
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const token = useTokenFromLink()
  useTabTitle(0, 'Sign in')

  async function exchange(credential: { key: string } | { link: string }) {
    setBusy(true)
    setFailure(null)
    const outcome = await signIn(credential)
    setBusy(false)
    if (!outcome.ok) return setFailure(outcome.message)
    if (location.pathname === '/sign-in') navigate('/', { replace: true })
    onSignedIn()
  }

  const started = useRef(false)
  useEffect(() => {
    if (token === null || started.current) return
    started.current = true
    void exchange({ link: token })
  })

  return (
    <main className={classes.page}>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault()
          if (busy) return
          if (key.trim() === '') setFailure('Enter a key.')
          else void exchange({ key: key.trim() })
        }}
      >
        <div className={classes.brand}>
          <Logo />
          <Title order={1}>Sign in to Holdpoint</Title>
        </div>
        {ended && (
          <Text size="sm" role="status">
            You were signed out, or the key has ended. Sign in again to go on where you were; drafts are kept.
          </Text>
        )}
        <PasswordInput
          label="Key"
          description="An API key. The first start of the server printed an admin key; every start offers a one-time sign-in link."
          autoComplete="current-password"
          spellCheck={false}
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          error={failure}
          aria-required
        />
        <Button type="submit" size="md" aria-disabled={busy || undefined}>
          {busy ? 'Signing in…' : 'Sign in'}
        </Button>
      </form>
    </main>
  )
}

/** Takes the token out of the address bar at once: it must not stay in the history or be copied along. */
function useTokenFromLink(): string | null {
  const [token] = useState(() => {
    const given = location.pathname === '/sign-in' ? location.hash.slice(1) : ''
    return given === '' ? null : given
  })
  useEffect(() => {
    if (token !== null) history.replaceState(null, '', '/sign-in')
  }, [token])
  return token
}
