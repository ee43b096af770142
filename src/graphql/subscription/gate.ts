import type { TimelineEvent } from '../../events/event.ts'
import { builder } from '../builder.ts'
import { ApprovalGate } from '../gate/gate.ts'
import { related } from '../related.ts'
import { eventsFor } from './source.ts'

const gateAt = related(async ({ services }, events: TimelineEvent[]) => {
  const status = await services.gate.status()
  return events.map(() => status)
})

const GateChange = builder.objectRef<TimelineEvent>('GateChange').implement({
  description: 'The gate can be reached again, or no longer, or a host reported something new.',
  fields: (t) => ({
    cursor: t.expose('cursor', { type: 'EventCursor' }),
    gate: t.field({ type: ApprovalGate, resolve: (event, _args, context) => gateAt(context, event) }),
  }),
})

const changes = new Set<string>(['gate.reported', 'gate.unreachable', 'gate.recovered'])

builder.subscriptionField('gate', (t) =>
  t.field({
    type: GateChange,
    args: { after: t.arg({ type: 'EventCursor' }) },
    authScopes: { read: true },
    subscribe: (_root, { after }, context) =>
      eventsFor(context, { after, filter: ({ type }) => changes.has(type) }),
    resolve: (event) => event,
  }),
)
