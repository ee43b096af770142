import { isStorable } from '../../base/json.ts'
import type { Prisma } from '../../database/generated/prisma/client.ts'
import { actorKinds, eventTypes } from '../../events/event.ts'
import { builder } from '../builder.ts'
import { pageComplexity, pageOf, sliceOf } from '../connection.ts'
import { cursorOf, TimelineConnection } from './timeline.ts'

builder.queryField('auditLog', (t) =>
  t.field({
    type: TimelineConnection,
    description: 'All that happened, in every session and to every key, newest first. For admins.',
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      type: t.arg.string({
        description: 'One type such as `key.created`, or all of a kind such as `key` or `sign_in`.',
      }),
      actor: t.arg.string({
        description: 'The name of a key, a person or an MCP server, or a kind of actor such as `clock`.',
      }),
      since: t.arg({ type: 'DateTime', description: 'From this moment on.' }),
      until: t.arg({ type: 'DateTime', description: 'Before this moment.' }),
    },
    authScopes: { administer: true },
    complexity: pageComplexity,
    resolve: async (_root, { type, actor, since, until, ...args }, { services }) => {
      const { prisma } = services.journal.database
      const slice = sliceOf(args, cursorOf)
      if (![type, actor].every((text) => text == null || isStorable(text)))
        return pageOf<never, string>([], slice, String, () => 0)
      const where: Prisma.EventWhereInput = {
        at: { ...(since ? { gte: since } : {}), ...(until ? { lt: until } : {}) },
        ...(type == null ? {} : { type: { in: typesOf(type) } }),
        ...(actor == null ? {} : actorIs(actor)),
      }
      const rows = await prisma.event.findMany({
        where: slice.after === null ? where : { AND: [where, { cursor: { lt: BigInt(slice.after) } }] },
        orderBy: { cursor: 'desc' },
        take: slice.limit,
      })
      return pageOf(
        rows,
        slice,
        ({ cursor }) => String(cursor),
        () => prisma.event.count({ where }),
      )
    },
  }),
)

/** One type, or all of a kind: named one by one, as an index is of use for equality alone in most collations. */
function typesOf(type: string): string[] {
  return [type, ...eventTypes.filter((each) => each.startsWith(`${type}.`))]
}

/** Of the kinds, only those that are rare have an index; so no other name is looked for among them. */
function actorIs(actor: string): Prisma.EventWhereInput {
  const isKind = actorKinds.some((kind) => kind === actor)
  return isKind ? { OR: [{ actorName: actor }, { actorKind: actor }] } : { actorName: actor }
}
