import type { Session as SessionRow } from '../../database/generated/prisma/client.ts'
import { needsInputReason } from '../../session/locked-session.ts'
import { isAlive } from '../../session/process.ts'
import { builder } from '../builder.ts'
import { idCursorOf, pageComplexity, pageOf, sliceOf } from '../connection.ts'
import { Elicitation, ElicitationConnection } from '../elicitation/elicitation.ts'
import { LostReason, NeedsInputReason, Runtime, SessionStatus } from '../enums.ts'
import { ofTheMoment } from '../sharing.ts'
import { cursorOf, TimelineConnection } from '../timeline/timeline.ts'
import { countElicitationsOf, countEventsOf, elicitationsOf, eventsOf, pendingOf } from './belongings.ts'

export interface Lost {
  reason: typeof LostReason.$inferType
  at: Date
  requestId: string | null
  summary: string | null
}

export const LostElicitation = builder.objectRef<Lost>('LostElicitation').implement({
  description:
    'The latest request of a session, lost without an answer. It goes as soon as the session moves on.',
  fields: (t) => ({
    reason: t.expose('reason', { type: LostReason }),
    at: t.expose('at', { type: 'DateTime' }),
    requestId: t.exposeString('requestId', { nullable: true }),
    summary: t.exposeString('summary', {
      nullable: true,
      description: 'What was asked, in the words of the MCP server: text from outside, never markup.',
    }),
  }),
})

function lostOf(session: SessionRow): Lost | null {
  const { lostReason: reason, lostAt: at, lostRequestId: requestId, lostSummary: summary } = session
  return reason && at ? { reason, at, requestId, summary } : null
}

const AgentProcess = builder.objectRef<SessionRow>('AgentProcess').implement({
  description: 'What a runner reported of the process of an agent.',
  fields: (t) => ({
    host: t.string({ resolve: ({ processHost }) => processHost! }),
    pid: t.exposeInt('processPid', { nullable: true }),
    command: t.exposeString('processCommand', { nullable: true }),
    startedAt: t.expose('processStartedAt', { type: 'DateTime', nullable: true }),
    lastSeenAt: t.expose('processLastSeenAt', { type: 'DateTime', nullable: true }),
    alive: t.boolean({
      description: 'Its runner was heard of less than 45 seconds ago and has not reported its end.',
      resolve: (session, _args, { services }) => isAlive(session, services.journal.now()),
    }),
    endedAt: t.expose('processEndedAt', { type: 'DateTime', nullable: true }),
    exitCode: t.exposeInt('processExitCode', { nullable: true }),
    signal: t.exposeString('processSignal', { nullable: true }),
  }),
})

export const Session = builder.prismaObject('Session', {
  description: 'One run of an agent.',
  fields: (t) => ({
    id: t.exposeID('id'),
    slug: t.exposeString('slug', { description: 'A name for URLs; unique.' }),
    title: t.exposeString('title'),
    status: t.expose('status', { type: SessionStatus }),
    runtime: t.expose('runtime', { type: Runtime }),
    workingDirectory: t.exposeString('workingDirectory', { nullable: true }),
    metadata: t.expose('metadata', { type: 'JSON', description: "The integrator's own." }),
    blockedOnElicitation: t.exposeBoolean('blockedOnElicitation', {
      description: 'A living agent waits for an answer.',
    }),
    lostElicitation: t.field({ type: LostElicitation, nullable: true, resolve: lostOf }),
    needsInputSince: t.expose('needsInputSince', { type: 'DateTime', nullable: true }),
    needsInputReason: t.field({
      type: NeedsInputReason,
      nullable: true,
      description: 'Why it is in the attention queue; null when it is not.',
      resolve: async (session, _args, context) =>
        needsInputReason(session, (await pendingOf(context, session)).length),
    }),
    failureReason: t.exposeString('failureReason', { nullable: true }),
    process: t.field({
      type: AgentProcess,
      nullable: true,
      extensions: ofTheMoment,
      description: 'Null when no runner ever reported one.',
      resolve: (session) => (session.processHost === null ? null : session),
    }),
    pendingElicitations: t.field({
      type: [Elicitation],
      description: 'The requests that wait for an answer, oldest first.',
      complexity: { field: 1, multiplier: 3 },
      resolve: (session, _args, context) => pendingOf(context, session),
    }),
    elicitations: t.field({
      type: ElicitationConnection,
      description: 'All its requests, newest first.',
      args: t.arg.connectionArgs(),
      complexity: pageComplexity,
      resolve: async (session, args, context) => {
        const slice = sliceOf(args, idCursorOf)
        return pageOf(
          await elicitationsOf(context, session, slice),
          slice,
          ({ id }) => id,
          () => countElicitationsOf(context, session),
        )
      },
    }),
    timeline: t.field({
      type: TimelineConnection,
      description: 'All that happened to it, oldest first: ask for `last` to see the newest.',
      args: t.arg.connectionArgs(),
      complexity: pageComplexity,
      resolve: async (session, args, context) => {
        const slice = sliceOf(args, cursorOf)
        return pageOf(
          await eventsOf(context, session, slice),
          slice,
          ({ cursor }) => String(cursor),
          () => countEventsOf(context, session),
        )
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
})

export const SessionConnection = builder.connectionObject(
  { type: Session, name: 'SessionConnection' },
  { name: 'SessionEdge' },
)
