import { queryFromInfo } from '@pothos/plugin-prisma'
import { isUuid } from '../../base/ids.ts'
import { isStorable } from '../../base/json.ts'
import type { Prisma } from '../../database/generated/prisma/client.ts'
import { attentionQueuePage, attentionQueueSize, parsePlace } from '../../session/attention-queue.ts'
import { builder } from '../builder.ts'
import { badInput, idCursorOf, pageComplexity, pageOf, sliceOf } from '../connection.ts'
import { SessionStatus } from '../enums.ts'
import { shared } from '../sharing.ts'
import { Session, SessionConnection } from './session.ts'

builder.queryFields((t) => ({
  session: t.prismaField({
    type: Session,
    nullable: true,
    description: 'A session by its id or its slug.',
    args: { id: t.arg.id(), slug: t.arg.string() },
    authScopes: { read: true },
    extensions: shared,
    resolve: (query, _root, { id, slug }, { services, identity }) => {
      if (id == null && slug == null) throw badInput('Give `id` or `slug`.')
      if ((id != null && !isUuid(id)) || (slug != null && !isStorable(slug))) return null
      return services.journal.database.prisma.session.findFirst({
        ...query,
        where: {
          ...(id == null ? {} : { id }),
          ...(slug == null ? {} : { slug }),
          ...(identity.sessionId === null ? {} : { AND: { id: identity.sessionId } }),
        },
      })
    },
  }),

  sessions: t.field({
    type: SessionConnection,
    description: 'Sessions, newest first.',
    args: { status: t.arg({ type: [SessionStatus] }), ...t.arg.connectionArgs() },
    authScopes: { read: true },
    extensions: shared,
    complexity: pageComplexity,
    resolve: async (_root, { status, ...args }, context, info) => {
      const { prisma } = context.services.journal.database
      const { identity } = context
      const slice = sliceOf(args, idCursorOf)
      const where: Prisma.SessionWhereInput = {
        ...(status ? { status: { in: status } } : {}),
        ...(identity.sessionId === null ? {} : { AND: { id: identity.sessionId } }),
      }
      const rows = await prisma.session.findMany({
        ...queryFromInfo({ context, info, path: ['edges', 'node'] }),
        where: {
          ...where,
          id: { ...(slice.after && { lt: slice.after }), ...(slice.before && { gt: slice.before }) },
        },
        orderBy: { id: slice.backward ? 'asc' : 'desc' },
        take: slice.limit,
      })
      return pageOf(
        rows,
        slice,
        ({ id }) => id,
        () => prisma.session.count({ where }),
      )
    },
  }),

  attentionQueue: t.field({
    type: SessionConnection,
    description:
      'Who needs a person: every session in NEEDS_INPUT, and any other that is not archived and has an active request. Soonest deadline first, then who has waited longest.',
    args: { first: t.arg.int(), after: t.arg.string() },
    authScopes: { read: true },
    extensions: shared,
    complexity: pageComplexity,
    resolve: async (_root, args, context) => {
      const { journal } = context.services
      const { sessionId } = context.identity
      const slice = sliceOf(args, parsePlace)
      const rows = await attentionQueuePage(journal, { after: slice.after, limit: slice.limit, sessionId })
      const places = new Map(rows.map(({ session, place }) => [session, place]))
      return pageOf(
        rows.map(({ session }) => session),
        slice,
        (session) => places.get(session)!,
        () => attentionQueueSize(journal, sessionId),
      )
    },
  }),
}))
