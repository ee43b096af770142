import { queryFromInfo } from '@pothos/plugin-prisma'
import { isUuid } from '../../base/ids.ts'
import { isStorable } from '../../base/json.ts'
import type { Prisma } from '../../database/generated/prisma/client.ts'
import { builder } from '../builder.ts'
import { badInput, idCursorOf, pageComplexity, pageOf, sliceOf } from '../connection.ts'
import { ElicitationStatus } from '../enums.ts'
import { shared } from '../sharing.ts'
import { Elicitation, ElicitationConnection } from './elicitation.ts'

builder.queryFields((t) => ({
  elicitation: t.prismaField({
    type: Elicitation,
    nullable: true,
    description: 'A request by our id or by the request id that its MCP server chose.',
    args: { id: t.arg.id(), requestId: t.arg.string() },
    authScopes: { read: true },
    extensions: shared,
    resolve: (query, _root, { id, requestId }, { services, identity }) => {
      if (id == null && requestId == null) throw badInput('Give `id` or `requestId`.')
      if ((id != null && !isUuid(id)) || (requestId != null && !isStorable(requestId))) return null
      return services.journal.database.prisma.elicitation.findFirst({
        ...query,
        where: {
          ...(id == null ? {} : { id }),
          ...(requestId == null ? {} : { requestId }),
          ...(identity.sessionId === null ? {} : { sessionId: identity.sessionId }),
        },
      })
    },
  }),

  elicitations: t.field({
    type: ElicitationConnection,
    description: 'Requests, newest first.',
    args: {
      status: t.arg({ type: [ElicitationStatus] }),
      sessionId: t.arg.id(),
      toolName: t.arg.string(),
      first: t.arg.int(),
      after: t.arg.string(),
    },
    authScopes: { read: true },
    extensions: shared,
    complexity: pageComplexity,
    resolve: async (_root, { status, sessionId, toolName, ...args }, context, info) => {
      const { prisma } = context.services.journal.database
      const { identity } = context
      const slice = sliceOf(args, idCursorOf)
      if ((sessionId != null && !isUuid(sessionId)) || (toolName != null && !isStorable(toolName)))
        return pageOf<never, string>([], slice, String, () => 0)
      const where: Prisma.ElicitationWhereInput = {
        ...(status ? { status: { in: status } } : {}),
        ...(sessionId == null ? {} : { sessionId }),
        ...(toolName == null ? {} : { toolName }),
        ...(identity.sessionId === null ? {} : { AND: { sessionId: identity.sessionId } }),
      }
      const rows = await prisma.elicitation.findMany({
        ...queryFromInfo({ context, info, path: ['edges', 'node'] }),
        where: slice.after === null ? where : { ...where, id: { lt: slice.after } },
        orderBy: { id: 'desc' },
        take: slice.limit,
      })
      return pageOf(
        rows,
        slice,
        ({ id }) => id,
        () => prisma.elicitation.count({ where }),
      )
    },
  }),
}))
