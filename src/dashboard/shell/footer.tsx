import { Anchor, type MantineColorScheme, useMantineColorScheme } from '@mantine/core'
import { signOut } from '../server/sign-in.ts'
import { useViewer } from '../viewer/viewer.tsx'
import classes from './shell.module.css'

export function Footer({ onSignedOut }: { onSignedOut: () => void }) {
  const { name, role } = useViewer()
  return (
    <footer className={classes.footer}>
      <span>
        Signed in as <bdi>{name}</bdi> ({role.toLowerCase()})
      </span>
      <ColorScheme />
      <Anchor
        component="button"
        type="button"
        size="sm"
        onClick={() => {
          // Whether or not the server could be told, this page shows nothing more.
          void signOut()
            .catch(() => {})
            .then(onSignedOut)
        }}
      >
        Sign out
      </Anchor>
    </footer>
  )
}

function ColorScheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <label>
      Colours
      <select
        className={classes.scheme}
        value={colorScheme}
        onChange={(event) => setColorScheme(event.currentTarget.value as MantineColorScheme)}
      >
        <option value="auto">as the device</option>
        <option value="light">light</option>
        <option value="dark">dark</option>
      </select>
    </label>
  )
}
