import { Anchor, type MantineColorScheme, useMantineColorScheme } from '@mantine/core'
import { NotificationSetting } from '../notify/notification-setting.tsx'
import { turnOff } from '../notify/notifications.ts'
import { signOut } from '../server/sign-in.ts'
import { useViewer } from '../viewer/viewer.tsx'
import classes from './shell.module.css'

/** Where the sign in the header leads. */
export const accountId = 'account'

export function Footer({ onSignedOut }: { onSignedOut: () => void }) {
  const { name, role } = useViewer()
  return (
    <footer id={accountId} tabIndex={-1} className={classes.footer}>
      <span>
        Signed in as <bdi>{name}</bdi> ({role.toLowerCase()})
      </span>
      <ColorScheme />
      <NotificationSetting />
      <Anchor component="button" type="button" size="sm" onClick={() => void leave().then(onSignedOut)}>
        Sign out
      </Anchor>
    </footer>
  )
}

/** Whether or not the server can be told, this page shows nothing more, and this browser is told nothing more. */
async function leave() {
  await turnOff().catch(() => {})
  await signOut().catch(() => {})
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
