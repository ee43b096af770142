import { Button, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { HistoryDocument } from '../generated/graphql.ts'
import { Filters } from '../history/filters.tsx'
import { filtersOf, goTo } from '../history/history-filters.ts'
import { HistoryLines } from '../history/history-lines.tsx'
import { useAddress } from '../routing/location.ts'
import { useLive } from '../server/live.tsx'
import { Empty } from '../states/empty.tsx'
import { Standin } from '../states/failure.tsx'

const pageSize = 25
const pageSizeMax = 100

export function HistoryPage() {
  const filters = filtersOf(useAddress().searchParams)
  const key = JSON.stringify(filters)
  const [shown, setShown] = useState({ key, first: pageSize })
  const first = shown.key === key ? shown.first : pageSize
  const history = useLive(
    HistoryDocument,
    {
      status: filters.status === null ? null : [filters.status],
      toolName: filters.tool,
      sessionId: filters.session,
      after: filters.after,
      first,
    },
    { concerns: (event) => event.type.startsWith('elicitation.') },
  )
  const lines = history.data?.elicitations.edges.map(({ node }) => node) ?? []
  const { hasNextPage = false, endCursor = null } = history.data?.elicitations.pageInfo ?? {}
  return (
    <Stack gap="md">
      <Title order={1}>
        History{' '}
        {history.data && (
          <Text span inherit c="dimmed" fw={400}>
            {history.data.elicitations.totalCount}
          </Text>
        )}
      </Title>
      <Filters filters={filters} />
      <Standin of={history} />
      {history.data && lines.length === 0 && (
        <Empty title="No request fits">
          {filters.active
            ? 'Take a filter away to see more.'
            : 'Every request that an MCP server makes will be listed here.'}
        </Empty>
      )}
      {lines.length > 0 && <HistoryLines lines={lines} />}
      {hasNextPage && (
        <Button
          variant="default"
          w="max-content"
          onClick={() => {
            if (first < pageSizeMax) setShown({ key, first: Math.min(first + pageSize, pageSizeMax) })
            else goTo(filters, { after: endCursor })
          }}
        >
          {first < pageSizeMax ? 'Show more' : 'Older'}
        </Button>
      )}
    </Stack>
  )
}
