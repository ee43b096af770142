import { may } from '../../auth/identity.ts'
import type { Event } from '../../database/generated/prisma/client.ts'
import { isForAdmins, type TimelineEvent as TimelineEventRow } from '../../events/event.ts'
import { builder } from '../builder.ts'
import { sessionOf } from '../rows.ts'
import { Session } from '../session/session.ts'
import { TimelineEvent } from '../timeline/timeline.ts'
import { eventsFor } from './source.ts'

const SessionChange = builder.objectRef<TimelineEventRow>('SessionChange').implement({
  description: 'Something happened to a session.',
  fields: (t) => ({
    cursor: t.expose('cursor', { type: 'EventCursor' }),
    session: t.field({
      type: Session,
      description: 'As it is now.',
      resolve: async (event, _args, context) => (await sessionOf(context, event))!,
    }),
    event: t.field({ type: TimelineEvent, resolve: (event) => event as Event }),
  }),
})

builder.queryField('eventCursor', (t) =>
  t.field({
    type: 'EventCursor',
    description: 'The present position in the timeline.',
    authScopes: { read: true },
    resolve: (_root, _args, { services }) => services.position(),
  }),
)

builder.subscriptionFields((t) => ({
  session: t.field({
    type: SessionChange,
    description: 'Everything that happens to one session.',
    args: { id: t.arg.id({ required: true }), after: t.arg({ type: 'EventCursor' }) },
    authScopes: { read: true },
    subscribe: (_root, { id, after }, context) =>
      eventsFor(context, { sessionId: id, after, filter: () => true }),
    resolve: (event) => event,
  }),

  timeline: t.field({
    type: TimelineEvent,
    description:
      'Everything that happens, in one session or in all. What is done to keys and who signs in is for admins.',
    args: { sessionId: t.arg.id(), after: t.arg({ type: 'EventCursor' }) },
    authScopes: { read: true },
    subscribe: (_root, { sessionId, after }, context) => {
      const audits = may(context.identity, 'administer')
      return eventsFor(context, { sessionId, after, filter: (event) => audits || !isForAdmins(event) })
    },
    resolve: (event) => event as Event,
  }),
}))
