import type { TimelineEvent } from '../../events/event.ts'
import { builder } from '../builder.ts'
import { Elicitation } from '../elicitation/elicitation.ts'
import { elicitationOf, sessionOf } from '../rows.ts'
import { type Lost, LostElicitation, Session } from '../session/session.ts'
import { eventsFor } from './source.ts'

const ElicitationBannerRaised = builder.objectRef<TimelineEvent>('ElicitationBannerRaised').implement({
  description: 'A request waits for an answer.',
  fields: (t) => ({
    cursor: t.expose('cursor', { type: 'EventCursor' }),
    elicitation: t.field({
      type: Elicitation,
      resolve: async (event, _args, context) => (await elicitationOf(context, event))!,
    }),
  }),
})

const ElicitationBannerRemoved = builder.objectRef<TimelineEvent>('ElicitationBannerRemoved').implement({
  description: 'A request is over: `elicitation` says how, and who ended it.',
  fields: (t) => ({
    cursor: t.expose('cursor', { type: 'EventCursor' }),
    elicitation: t.field({
      type: Elicitation,
      resolve: async (event, _args, context) => (await elicitationOf(context, event))!,
    }),
  }),
})

const LostElicitationBannerRaised = builder
  .objectRef<TimelineEvent>('LostElicitationBannerRaised')
  .implement({
    description: 'A request was lost without an answer.',
    fields: (t) => ({
      cursor: t.expose('cursor', { type: 'EventCursor' }),
      session: t.field({
        type: Session,
        resolve: async (event, _args, context) => (await sessionOf(context, event))!,
      }),
      // What was lost then; the session itself may have moved on by now.
      lostElicitation: t.field({
        type: LostElicitation,
        resolve: ({ data, at }) => ({ ...data, at }) as Lost,
      }),
    }),
  })

const LostElicitationBannerCleared = builder
  .objectRef<TimelineEvent>('LostElicitationBannerCleared')
  .implement({
    description: 'The session has moved on from what it lost.',
    fields: (t) => ({
      cursor: t.expose('cursor', { type: 'EventCursor' }),
      session: t.field({
        type: Session,
        resolve: async (event, _args, context) => (await sessionOf(context, event))!,
      }),
    }),
  })

const banners = new Map<string, string>([
  ['elicitation.created', 'ElicitationBannerRaised'],
  ['elicitation.resolved', 'ElicitationBannerRemoved'],
  ['session.lost_recorded', 'LostElicitationBannerRaised'],
  ['session.lost_cleared', 'LostElicitationBannerCleared'],
])

const BannerChange = builder.unionType('BannerChange', {
  types: [
    ElicitationBannerRaised,
    ElicitationBannerRemoved,
    LostElicitationBannerRaised,
    LostElicitationBannerCleared,
  ],
  resolveType: ({ type }) => banners.get(type)!,
})

builder.subscriptionField('banners', (t) =>
  t.field({
    type: BannerChange,
    description:
      'What a dashboard shows on top of a session, or of all sessions: requests and lost requests, coming and going.',
    args: { sessionId: t.arg.id(), after: t.arg({ type: 'EventCursor' }) },
    authScopes: { read: true },
    subscribe: (_root, { sessionId, after }, context) =>
      eventsFor(context, { sessionId, after, filter: ({ type }) => banners.has(type) }),
    resolve: (event) => event,
  }),
)
