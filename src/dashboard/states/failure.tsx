import { Alert, Anchor, Text } from '@mantine/core'
import type { CombinedError } from 'urql'
import type { Live } from '../server/live.tsx'
import { PageLoading } from './loading.tsx'

/**
 * The part of a page that stands in for its data: loading, or why there is none. Null once there is something to show; a
 * failure after that is the connection strip's to tell.
 */
export function Standin({ of }: { of: Pick<Live<unknown>, 'data' | 'failure' | 'refresh'> }) {
  if (of.data !== undefined) return null
  return of.failure ? <Failure error={of.failure} onRetry={() => void of.refresh()} /> : <PageLoading />
}

export function Failure({ error, onRetry }: { error: CombinedError; onRetry: () => void }) {
  const refused = error.graphQLErrors[0]?.message
  return (
    <Alert
      color="red"
      variant="light"
      title={refused ? 'This could not be loaded' : 'Holdpoint cannot be reached'}
      role="alert"
    >
      <Text size="sm">
        {refused ?? 'Check your connection. The page tries again by itself as soon as it is back.'}
      </Text>
      <Anchor component="button" type="button" size="sm" onClick={onRetry}>
        Try again
      </Anchor>
    </Alert>
  )
}
