import type { ElicitationStatus } from '../generated/graphql.ts'
import { navigate } from '../routing/location.ts'

export const statusChoices: { value: ElicitationStatus; name: string }[] = [
  { value: 'PENDING', name: 'Pending' },
  { value: 'ACCEPT', name: 'Accepted' },
  { value: 'DECLINE', name: 'Declined' },
  { value: 'CANCEL', name: 'Dismissed or cancelled' },
  { value: 'EXPIRED', name: 'Expired' },
]

export type HistoryFilters = {
  status: ElicitationStatus | null
  tool: string | null
  session: string | null
  /** Where an older page starts. */
  after: string | null
  active: boolean
}

/** The filters stand in the address, so that what one sees can be reloaded and passed on. */
export function filtersOf(query: URLSearchParams): HistoryFilters {
  const status = statusChoices.find(({ value }) => value.toLowerCase() === query.get('status'))?.value ?? null
  const tool = query.get('tool') || null
  const session = query.get('session') || null
  return {
    status,
    tool,
    session,
    after: query.get('after') || null,
    active: Boolean(status || tool || session),
  }
}

/** Changes some filters; any change starts at the newest again, unless it is a step to older ones. */
export function goTo(filters: HistoryFilters, change: Partial<HistoryFilters>) {
  const { status, tool, session, after } = { ...filters, after: null, ...change }
  const query = new URLSearchParams()
  if (status) query.set('status', status.toLowerCase())
  if (tool) query.set('tool', tool)
  if (session) query.set('session', session)
  if (after) query.set('after', after)
  navigate(`/history${query.size > 0 ? `?${query}` : ''}`, { replace: change.after === undefined })
}
