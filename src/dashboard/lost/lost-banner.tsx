import { Alert, Text } from '@mantine/core'
import type { AttentionSessionFragment } from '../generated/graphql.ts'
import { Moment } from '../text/moment.tsx'
import { StrangerText } from '../text/stranger-text.tsx'

type Lost = NonNullable<AttentionSessionFragment['lostElicitation']>

const words: Record<Lost['reason'], { title: string; meaning: string }> = {
  EXPIRED: {
    title: 'Approval request expired',
    meaning:
      'Nobody answered before it timed out; the MCP server was told expired and the agent continued without approval',
  },
  STRANDED: {
    title: 'Approval request lost',
    meaning: 'The round trip never completed; this session is no longer blocked on it',
  },
}

/** What was asked in vain, until the session moves on. */
export function LostBanner({ lost }: { lost: Lost }) {
  const { title, meaning } = words[lost.reason]
  return (
    <Alert color="orange" variant="light" title={title} role="alert">
      <Text size="sm">
        {meaning} (<Moment at={lost.at} />)
      </Text>
      {lost.summary && (
        <Text size="sm" mt={4} component="div">
          <Text span inherit c="dimmed">
            The MCP server asked:{' '}
          </Text>
          <StrangerText component="span" inherit>
            {lost.summary}
          </StrangerText>
        </Text>
      )}
    </Alert>
  )
}
