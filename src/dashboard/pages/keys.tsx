import { Stack, Text, Title } from '@mantine/core'
import { KeysDocument } from '../generated/graphql.ts'
import { KeyLines } from '../keys/key-lines.tsx'
import { NewKey } from '../keys/new-key.tsx'
import { useLive } from '../server/live.tsx'
import { NothingHere } from '../states/empty.tsx'
import { Standin } from '../states/failure.tsx'
import { useViewer } from '../viewer/viewer.tsx'
import classes from './page.module.css'

export function KeysPage() {
  const { may } = useViewer()
  return may('administer') ? (
    <Keys />
  ) : (
    <NothingHere title="Keys are for admins">
      Ask somebody with an admin key to create or revoke one.
    </NothingHere>
  )
}

function Keys() {
  const keys = useLive(KeysDocument, {}, { concerns: (event) => event.type.startsWith('key.') })
  return (
    <Stack gap="xl">
      <div>
        <Title order={1}>Keys</Title>
        <Text size="sm" c="dimmed" mt={4}>
          What people and programs sign in with. A key is shown once, when it is made.
        </Text>
      </div>
      <NewKey />
      <section aria-labelledby="existing">
        <Title order={2} id="existing" className={classes.sectionTitle}>
          Existing keys
        </Title>
        {keys.data ? (
          <KeyLines keys={keys.data.apiKeys} rotations={keys.data.rotations.edges} />
        ) : (
          <Standin of={keys} />
        )}
      </section>
    </Stack>
  )
}
