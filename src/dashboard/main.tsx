import { MantineProvider } from '@mantine/core'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { routeOf } from './routing/routes.tsx'
import './styles.css'
import { readableColours, theme } from './theme.ts'

// The styles that Mantine writes at run time are let through by the nonce of this very response.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''

// On its way while it is still being asked who is signed in.
routeOf(location.pathname).route.load()

createRoot(document.getElementById('root')!).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={readableColours}
    defaultColorScheme="auto"
    getStyleNonce={() => nonce}
  >
    <App />
  </MantineProvider>,
)
