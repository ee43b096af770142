import { Text, Title } from '@mantine/core'
import classes from './states.module.css'

export function Unreachable() {
  return (
    <main className={classes.whole}>
      <Title order={1}>Holdpoint cannot be reached</Title>
      <Text c="dimmed" role="status">
        {navigator.onLine ? 'The server does not answer.' : 'You are offline.'} This page tries again by
        itself.
      </Text>
    </main>
  )
}
