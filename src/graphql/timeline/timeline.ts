import { may } from '../../auth/identity.ts'
import { isRecord } from '../../base/json.ts'
import { auditData } from '../../events/event.ts'
import { builder } from '../builder.ts'
import { Role } from '../enums.ts'
import { elicitationOf, sessionOf } from '../rows.ts'

/** A position as the cursor of an edge; null for what is none. */
export function cursorOf(text: string): string | null {
  return /^\d{1,18}$/.test(text) ? text : null
}

const Actor = builder
  .objectRef<{ actorKind: string; actorName: string | null; actorRole: typeof Role.$inferType | null }>(
    'Actor',
  )
  .implement({
    description: 'Who did something.',
    fields: (t) => ({
      kind: t.exposeString('actorKind', {
        description: '`api-key`, `user`, `mcp-server`, `clock`, `sweep`, `runner` or `system`.',
      }),
      name: t.exposeString('actorName', { nullable: true }),
      role: t.expose('actorRole', { type: Role, nullable: true }),
    }),
  })

export const TimelineEvent = builder.prismaObject('Event', {
  name: 'TimelineEvent',
  description: 'Something that happened. The timeline is append-only.',
  fields: (t) => ({
    cursor: t.expose('cursor', { type: 'EventCursor' }),
    type: t.exposeString('type', { description: 'Such as `session.paused` or `elicitation.resolved`.' }),
    at: t.expose('at', { type: 'DateTime' }),
    session: t.relation('session', {
      nullable: true,
      resolve: (_query, event, _args, context) =>
        event.sessionId === null ? null : sessionOf(context, event),
    }),
    elicitation: t.relation('elicitation', {
      nullable: true,
      resolve: (_query, event, _args, context) =>
        event.elicitationId === null ? null : elicitationOf(context, event),
    }),
    actor: t.field({ type: Actor, resolve: (event) => event }),
    data: t.field({
      type: 'JSON',
      description: 'From where somebody acted, and with which key, is shown to admins.',
      resolve: ({ data }, _args, { identity }) =>
        may(identity, 'administer') || !isRecord(data)
          ? data
          : Object.fromEntries(Object.entries(data).filter(([name]) => !auditData.includes(name))),
    }),
  }),
})

export const TimelineConnection = builder.connectionObject(
  { type: TimelineEvent, name: 'TimelineConnection' },
  { name: 'TimelineEdge' },
)
