import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { Alert, Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { useClient } from 'urql'
import {
  ArchiveSessionDocument,
  PauseSessionDocument,
  ResumeSessionDocument,
  type SessionStatus,
  StartSessionDocument,
  UnarchiveSessionDocument,
} from '../generated/graphql.ts'
import { useSubmit } from '../server/submit.ts'

type Outcome = { outcome: { __typename: string; message?: string } }
type Command = {
  name: string
  document: TypedDocumentNode<Outcome, { id: string }>
  /** Ends a process, and with it what is pending; asked about first. */
  ends: boolean
}

const start: Command = { name: 'Start', document: StartSessionDocument, ends: false }
const pause: Command = { name: 'Pause', document: PauseSessionDocument, ends: true }
const resume: Command = { name: 'Resume', document: ResumeSessionDocument, ends: false }
const archive: Command = { name: 'Archive', document: ArchiveSessionDocument, ends: true }
const unarchive: Command = { name: 'Unarchive', document: UnarchiveSessionDocument, ends: false }

/** What the state allows; the server decides again. */
function commandsFor(status: SessionStatus, blocked: boolean): Command[] {
  switch (status) {
    case 'WAITING':
      return [start, archive]
    case 'RUNNING':
      return [pause, archive]
    case 'NEEDS_INPUT':
      return blocked ? [pause, archive] : [resume, archive]
    case 'FAILED':
      return [resume, archive]
    case 'ARCHIVED':
      return [unarchive]
  }
}

export function SessionActions(props: {
  id: string
  status: SessionStatus
  blocked: boolean
  pendingCount: number
}) {
  const { id, status, blocked, pendingCount } = props
  const client = useClient()
  const { busy, failure, submit } = useSubmit()
  const [asked, setAsked] = useState<Command | null>(null)

  async function run({ document }: Command) {
    setAsked(null)
    await submit(async () => await client.mutation(document, { id }).toPromise())
  }

  const needsAsking = (command: Command) =>
    command.ends && (status === 'RUNNING' || blocked || pendingCount > 0)
  return (
    <div>
      <Group gap="xs">
        {commandsFor(status, blocked).map((command) => (
          <Button
            key={command.name}
            variant="default"
            aria-disabled={busy || undefined}
            aria-expanded={needsAsking(command) ? asked === command : undefined}
            onClick={() => (needsAsking(command) ? setAsked(command) : void run(command))}
          >
            {command.name}
          </Button>
        ))}
      </Group>
      {asked && (
        <Alert color="orange" variant="light" mt="sm" title={`${asked.name} this session?`}>
          <Text size="sm">
            The agent’s process is stopped.
            {pendingCount > 0 &&
              ` ${pendingCount === 1 ? 'The pending request is' : `The ${pendingCount} pending requests are`} cancelled without an answer.`}
          </Text>
          <Group gap="xs" mt="xs">
            <Button color="red" size="sm" onClick={() => void run(asked)}>
              {asked.name} session
            </Button>
            <Button variant="default" size="sm" onClick={() => setAsked(null)}>
              Keep it as it is
            </Button>
          </Group>
        </Alert>
      )}
      {failure && (
        <Alert color="red" variant="light" mt="sm" role="alert">
          {failure}
        </Alert>
      )}
    </div>
  )
}
