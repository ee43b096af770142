import type { TimelineEvent } from '../../events/event.ts'
import { attentionQueueSize } from '../../session/attention-queue.ts'
import type { NeedsInputReason as Reason } from '../../session/locked-session.ts'
import { builder } from '../builder.ts'
import { NeedsInputChangeKind, NeedsInputReason } from '../enums.ts'
import { related } from '../related.ts'
import { sessionOf } from '../rows.ts'
import { Session } from '../session/session.ts'
import { eventsFor } from './source.ts'

/** Counted once an event, however many subscribers are sent it. */
const queueSizeAt = related(async ({ services }, events: TimelineEvent[], sessionId: string | null) => {
  const size = await attentionQueueSize(services.journal, sessionId)
  return events.map(() => size)
})

const NeedsInputChange = builder.objectRef<TimelineEvent>('NeedsInputChange').implement({
  description: 'A change in the attention queue.',
  fields: (t) => ({
    cursor: t.expose('cursor', { type: 'EventCursor' }),
    kind: t.field({ type: NeedsInputChangeKind, resolve: ({ attention }) => attention! }),
    reason: t.field({
      type: NeedsInputReason,
      nullable: true,
      description: 'Why the session needs a person; null when it left.',
      resolve: ({ data }) => (data.needsInputReason as Reason | undefined) ?? null,
    }),
    session: t.field({
      type: Session,
      resolve: async (event, _args, context) => (await sessionOf(context, event))!,
    }),
    queueSize: t.int({
      description: "The queue's `totalCount`.",
      resolve: (event, _args, context) => queueSizeAt(context, event, context.identity.sessionId),
    }),
  }),
})

builder.subscriptionField('needsInput', (t) =>
  t.field({
    type: NeedsInputChange,
    description: 'Who enters, leaves or changes in the attention queue.',
    args: { after: t.arg({ type: 'EventCursor' }) },
    authScopes: { read: true },
    subscribe: (_root, { after }, context) =>
      eventsFor(context, { after, filter: ({ attention }) => attention !== null }),
    resolve: (event) => event,
  }),
)
