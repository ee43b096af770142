import { Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './states.module.css'

/** Nothing to show, said so that one knows it is right that way. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={classes.empty}>
      <Text fw={600}>{title}</Text>
      {children && (
        <Text component="div" size="sm" c="dimmed">
          {children}
        </Text>
      )}
    </div>
  )
}

export function NothingHere({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={classes.empty}>
      <Title order={1}>{title}</Title>
      <Text component="div" c="dimmed">
        {children}
      </Text>
    </div>
  )
}
