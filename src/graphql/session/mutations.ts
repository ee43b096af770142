import { z } from 'zod'
import { actorOf } from '../../auth/identity.ts'
import { isRecord } from '../../base/json.ts'
import { InvalidInputError, InvalidTransitionError, NotFoundError } from '../../base/refusal.ts'
import { commandSession, createSession } from '../../session/commands.ts'
import { builder } from '../builder.ts'
import { Runtime } from '../enums.ts'
import { done } from '../outcome.ts'
import { parseInput, text } from '../parse-input.ts'
import { sessionIdOf } from './arguments.ts'
import { Session } from './session.ts'

const CreateSessionInput = builder.inputType('CreateSessionInput', {
  fields: (t) => ({
    title: t.string({ required: true }),
    slug: t.string({ description: 'The words of the slug; six random characters are put behind them.' }),
    runtime: t.field({ type: Runtime }),
    workingDirectory: t.string(),
    metadata: t.field({ type: 'JSON', description: 'A JSON object of your own, 64 KiB at most.' }),
    start: t.boolean({ defaultValue: false, description: 'Start it at once.' }),
  }),
})

const createSessionInput = z.object({
  title: text(1_000),
  slug: text(1_000).nullish(),
  runtime: z.enum(['claude_code', 'codex', 'other']).nullish(),
  workingDirectory: text(10_000).nullish(),
  // Checked and not copied: a copy would lose a property called `__proto__`.
  metadata: z.custom<object>((value) => value == null || isRecord(value), 'Give a JSON object.').optional(),
  start: z.boolean().nullish(),
})

const commands = {
  startSession: { event: 'start', description: 'Starts a waiting session.' },
  pauseSession: {
    event: 'pause',
    description:
      "Ends the agent's turn: its process is ended, and whatever is pending is cancelled. Blocking on a request is not a pause.",
  },
  resumeSession: {
    event: 'resume',
    description: 'Runs it again. Refused while it is blocked on a request: answer or dismiss that first.',
  },
  sleepSession: {
    event: 'sleep',
    description: 'Puts a session that needs input, and is not blocked, back to waiting.',
  },
  archiveSession: {
    event: 'archive',
    description: 'Puts it away, ending its process and cancelling what is pending.',
  },
  unarchiveSession: { event: 'unarchive', description: 'Brings it back to the state it was archived from.' },
} as const

builder.mutationFields((t) => ({
  createSession: t.field({
    type: Session,
    args: { input: t.arg({ type: CreateSessionInput, required: true }) },
    authScopes: { launch: true },
    errors: { types: [InvalidInputError], dataField: { name: 'session' } },
    resolve: async (_root, { input }, { services, identity }) => {
      const { metadata, ...session } = parseInput(createSessionInput, input)
      return done(
        await createSession(
          services.journal,
          { ...session, metadata: metadata ?? undefined },
          actorOf(identity),
        ),
      )
    },
  }),

  ...Object.fromEntries(
    Object.entries(commands).map(([name, { event, description }]) => [
      name,
      t.field({
        type: Session,
        description,
        args: { id: t.arg.id({ required: true }) },
        authScopes: { launch: true },
        errors: { types: [NotFoundError, InvalidTransitionError], dataField: { name: 'session' } },
        resolve: async (_root, { id }, { services, identity }) =>
          done(await commandSession(services.journal, sessionIdOf(id, identity), event, actorOf(identity))),
      }),
    ]),
  ),

  failSession: t.field({
    type: Session,
    description: 'Ends it as failed, ending its process and cancelling what is pending.',
    args: { id: t.arg.id({ required: true }), reason: t.arg.string({ required: true }) },
    authScopes: { launch: true },
    errors: {
      types: [NotFoundError, InvalidTransitionError, InvalidInputError],
      dataField: { name: 'session' },
    },
    resolve: async (_root, { id, ...args }, { services, identity }) => {
      const reason = parseInput(z.object({ reason: text(2_000) }), args)
      return done(
        await commandSession(services.journal, sessionIdOf(id, identity), 'fail', actorOf(identity), reason),
      )
    },
  }),
}))
