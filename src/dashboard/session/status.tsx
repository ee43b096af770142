import { Badge } from '@mantine/core'
import type { SessionStatus } from '../generated/graphql.ts'
import classes from './session.module.css'

export const statusNames: Record<SessionStatus, string> = {
  WAITING: 'Waiting',
  RUNNING: 'Running',
  NEEDS_INPUT: 'Needs input',
  FAILED: 'Failed',
  ARCHIVED: 'Archived',
}

export function Status({ status }: { status: SessionStatus }) {
  return (
    <Badge variant="outline" className={classes.status} data-status={status}>
      {statusNames[status]}
    </Badge>
  )
}
