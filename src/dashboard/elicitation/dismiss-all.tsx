import { Alert, Anchor, Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { useClient } from 'urql'
import { DismissAllDocument, type RequestFragment } from '../generated/graphql.ts'

/** Fewer are dismissed one by one; a flood is not. */
const offeredFrom = 3
const batchMax = 50

/** The way out of a flood of requests that nobody wants to answer. Dismissing is no answer: no server takes it for a no or a yes. */
export function DismissAll({ requests }: { requests: readonly RequestFragment[] }) {
  const client = useClient()
  const [asked, setAsked] = useState(false)
  const [busy, setBusy] = useState(false)
  if (requests.length < offeredFrom) return null

  async function dismiss() {
    setBusy(true)
    const input = requests.slice(0, batchMax).map(({ id }) => ({ id, action: 'CANCEL' as const }))
    await client.mutation(DismissAllDocument, { input }).toPromise()
    setBusy(false)
    setAsked(false)
  }

  if (!asked)
    return (
      <Anchor component="button" type="button" size="sm" w="max-content" onClick={() => setAsked(true)}>
        Dismiss all {requests.length} requests
      </Anchor>
    )
  return (
    <Alert color="orange" variant="light" p="xs">
      <Text size="sm">
        All {requests.length} requests end without an answer. The agent is told that each was dismissed.
      </Text>
      <Group gap="xs" mt="xs">
        <Button
          color="red"
          size="sm"
          aria-disabled={busy || undefined}
          onClick={() => void (busy || dismiss())}
        >
          Dismiss them all
        </Button>
        <Button variant="default" size="sm" onClick={() => setAsked(false)}>
          Keep them
        </Button>
      </Group>
    </Alert>
  )
}
