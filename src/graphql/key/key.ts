import { z } from 'zod'
import { actorOf, type Identity } from '../../auth/identity.ts'
import { createKey, revokeKey } from '../../auth/keys.ts'
import { overlapDefaultMinutes, overlapMinutesMax, rotateKey } from '../../auth/succession.ts'
import { InvalidInputError, NotFoundError } from '../../base/refusal.ts'
import { builder } from '../builder.ts'
import { Role } from '../enums.ts'
import { done } from '../outcome.ts'
import { parseInput, text } from '../parse-input.ts'

/** Every launch may make one for its agent. */
const keysShownMax = 1_000

const Viewer = builder.objectRef<Identity>('Viewer').implement({
  description: 'The key in use.',
  fields: (t) => ({
    name: t.exposeString('name'),
    role: t.expose('role', { type: Role }),
    sessionId: t.exposeID('sessionId', {
      nullable: true,
      description: 'The one session that a bound key sees.',
    }),
  }),
})

const ApiKey = builder.prismaObject('ApiKey', {
  description: 'An API key. Its secret is shown once, when it is made.',
  fields: (t) => ({
    id: t.exposeID('id'),
    name: t.exposeString('name'),
    prefix: t.exposeString('prefix', { description: 'The part of it that is shown.' }),
    role: t.expose('role', { type: Role }),
    sessionId: t.exposeID('sessionId', {
      nullable: true,
      description: 'Bound to this session: it sees that one only, and answers nothing.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Recorded every few seconds.',
    }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true }),
  }),
})

const NewApiKey = builder
  .objectRef<Extract<Awaited<ReturnType<typeof createKey>>, { secret: string }>>('CreateApiKeySuccess')
  .implement({
    fields: (t) => ({
      apiKey: t.expose('apiKey', { type: ApiKey }),
      secret: t.exposeString('secret', { description: 'The key itself. It is shown this once.' }),
    }),
  })

const RotatedApiKey = builder
  .objectRef<Extract<Awaited<ReturnType<typeof rotateKey>>, { secret: string }>>('RotateApiKeySuccess')
  .implement({
    fields: (t) => ({
      apiKey: t.expose('apiKey', { type: ApiKey, description: 'The successor.' }),
      secret: t.exposeString('secret', { description: 'The successor itself. It is shown this once.' }),
      replaced: t.expose('replaced', {
        type: ApiKey,
        description: 'The old key, which works until it expires.',
      }),
    }),
  })

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    role: t.field({ type: Role, required: true }),
    expiresAt: t.field({ type: 'DateTime', description: 'Never when absent.' }),
    sessionId: t.id({ description: 'Binds the key to a session.' }),
  }),
})

const createApiKeyInput = z.object({
  name: text(1_000),
  role: z.enum(['viewer', 'responder', 'launcher', 'operator', 'admin']),
  expiresAt: z.date().nullish(),
  sessionId: z.string().nullish(),
})

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    description: 'The name and role of the key in use.',
    authScopes: { read: true },
    resolve: (_root, _args, { identity }) => identity,
  }),

  apiKeys: t.prismaField({
    type: [ApiKey],
    description: `Keys, newest first and the revoked ones last, ${keysShownMax} at most. For admins.`,
    authScopes: { administer: true },
    resolve: (query, _root, _args, { services }) =>
      services.journal.database.prisma.apiKey.findMany({
        ...query,
        orderBy: [{ revokedAt: { sort: 'desc', nulls: 'first' } }, { id: 'desc' }],
        take: keysShownMax,
      }),
  }),
}))

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: NewApiKey,
    args: { input: t.arg({ type: CreateApiKeyInput, required: true }) },
    authScopes: { administer: true },
    errors: {
      types: [InvalidInputError, NotFoundError],
      directResult: true,
      result: { name: 'CreateApiKeySuccess' },
    },
    resolve: async (_root, { input }, { services, identity }) =>
      done(await createKey(services.journal, parseInput(createApiKeyInput, input), actorOf(identity))),
  }),

  rotateApiKey: t.field({
    type: RotatedApiKey,
    description:
      'Makes the key that takes the place of another one: same name, role and session, and as long a life. Both work until the overlap is over.',
    args: {
      id: t.arg.id({ required: true }),
      overlapMinutes: t.arg.int({
        required: true,
        defaultValue: overlapDefaultMinutes,
        description: `0 revokes the old key at once; ${overlapMinutesMax} at most.`,
      }),
    },
    authScopes: { administer: true },
    errors: {
      types: [InvalidInputError, NotFoundError],
      directResult: true,
      result: { name: 'RotateApiKeySuccess' },
    },
    resolve: async (_root, { id, overlapMinutes }, { services, identity }) =>
      done(await rotateKey(services.journal, id, overlapMinutes, actorOf(identity))),
  }),

  revokeApiKey: t.field({
    type: ApiKey,
    description: 'Revokes a key at once; what is connected with it is disconnected.',
    args: { id: t.arg.id({ required: true }) },
    authScopes: { administer: true },
    errors: { types: [NotFoundError], dataField: { name: 'apiKey' } },
    resolve: async (_root, { id }, { services, identity }) =>
      done(await revokeKey(services.journal, id, actorOf(identity))),
  }),
}))
