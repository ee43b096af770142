import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useClient } from 'urql'
import { DismissAllDocument, type RequestFragment } from '../generated/graphql.ts'
import { type Flood, floodsOf } from './flood.ts'

/** As many as the server takes at once. */
const batchMax = 50

/** The way out of a flood of requests that nobody wants to answer. Dismissing is no answer: no server takes it for a no or a yes. */
export function DismissAll({ requests }: { requests: readonly RequestFragment[] }) {
  const client = useClient()
  const [asked, setAsked] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState(false)
  const floods = floodsOf(requests)
  const flood = floods.find(({ key }) => key === asked)

  async function dismiss({ ids }: Flood) {
    setBusy(true)
    let error = false
    for (let first = 0; first < ids.length && !error; first += batchMax) {
      const input = ids.slice(first, first + batchMax).map((id) => ({ id, action: 'CANCEL' as const }))
      // One that somebody else was quicker with is over too: only a batch that did not get through is worth a word.
      error = !(await client.mutation(DismissAllDocument, { input }).toPromise()).data
    }
    setBusy(false)
    setFailed(error)
    if (!error) setAsked(null)
  }

  if (floods.length === 0) return null
  if (!flood)
    return (
      <Stack gap={4}>
        {floods.map(({ key, ids, address }) => (
          <Anchor
            key={key}
            component="button"
            type="button"
            size="sm"
            w="max-content"
            onClick={() => setAsked(key)}
          >
            Dismiss all {ids.length} {address === null ? 'requests' : `from ${address}`}
          </Anchor>
        ))}
      </Stack>
    )
  const { ids, address } = flood
  return (
    <Alert color="orange" variant="light" p="xs">
      <Text size="sm">
        All {ids.length} requests{address !== null && ` from ${address}`} end without an answer. Whoever asked
        is told that each was dismissed.
        {ids.length < requests.length && ' The others stay.'}
      </Text>
      <Group gap="xs" mt="xs">
        <Button
          color="red"
          size="sm"
          aria-disabled={busy || undefined}
          onClick={() => void (busy || dismiss(flood))}
        >
          Dismiss them all
        </Button>
        <Button variant="default" size="sm" onClick={() => setAsked(null)}>
          Keep them
        </Button>
      </Group>
      {failed && (
        <Text size="sm" c="var(--hp-bad)" role="alert" mt="xs">
          Not all of it got through. Press again for what is still here.
        </Text>
      )}
    </Alert>
  )
}
