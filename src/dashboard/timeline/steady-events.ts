import { useState } from 'react'
import type { TimelineLineFragment } from '../generated/graphql.ts'

type Events = readonly TimelineLineFragment[]
type Shown = { events: Events; olderExist: boolean }

/**
 * The newest events, without letting go of those that were shown before them: as new ones come below, nothing moves up. After
 * a gap it begins anew.
 */
export function useSteadyEvents(newest: Events, olderExist: boolean): Shown {
  const [state, setState] = useState({ newest, shown: { events: newest, olderExist } })
  if (newest === state.newest) return state.shown
  const shown = continued(state.shown, { events: newest, olderExist })
  setState({ newest, shown })
  return shown
}

export function continued(shown: Shown, newest: Shown): Shown {
  const first = newest.events[0]
  const at = shown.events.findIndex(({ cursor }) => cursor === first?.cursor)
  if (at < 0) return newest
  return {
    events: [...shown.events.slice(0, at), ...newest.events],
    olderExist: at > 0 ? shown.olderExist : newest.olderExist,
  }
}
