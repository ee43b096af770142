import { z } from 'zod'
import type { Identity } from '../../auth/identity.ts'
import { InvalidInputError, InvalidTransitionError, NotFoundError } from '../../base/refusal.ts'
import type { Actor } from '../../events/event.ts'
import { heartbeat, registerProcess, reportExit } from '../../session/process.ts'
import { builder } from '../builder.ts'
import { done } from '../outcome.ts'
import { parseInput, text } from '../parse-input.ts'
import { sessionIdOf } from '../session/arguments.ts'
import { Session } from '../session/session.ts'

const RegisterProcessInput = builder.inputType('RegisterProcessInput', {
  fields: (t) => ({
    sessionId: t.id({ required: true }),
    host: t.string({ required: true, description: 'The name of the machine that it runs on.' }),
    pid: t.int({ required: true }),
    startedAt: t.field({ type: 'DateTime', description: 'Now when absent.' }),
    command: t.string({ description: 'For people to see: leave secrets out.' }),
  }),
})

const GateReportInput = builder.inputType('GateReportInput', {
  description: 'Whether the gate can be reached from the host that the agent runs on.',
  fields: (t) => ({
    url: t.string({ required: true }),
    reachable: t.boolean({ required: true }),
    detail: t.string(),
  }),
})

const HeartbeatInput = builder.inputType('HeartbeatInput', {
  fields: (t) => ({
    sessionId: t.id({ required: true }),
    gate: t.field({ type: GateReportInput }),
  }),
})

const ReportExitInput = builder.inputType('ReportExitInput', {
  fields: (t) => ({
    sessionId: t.id({ required: true }),
    exitCode: t.int(),
    signal: t.string({ description: 'Such as SIGTERM, when a signal ended it.' }),
    pid: t.int({
      description: 'Which process it was: a report on another one than the registered changes nothing.',
    }),
  }),
})

const pid = z.int().min(1, 'Give the id of a process.')
const registerInput = z.object({
  host: text(255).trim().min(1, 'Name the host.'),
  pid,
  startedAt: z.date().nullish(),
  command: text(2_000).nullish(),
})
const heartbeatInput = z.object({
  gate: z.object({ url: text(4_096), reachable: z.boolean(), detail: text(1_000).nullish() }).nullish(),
})
const exitInput = z
  .object({
    exitCode: z.int().min(-2_147_483_648).max(255, 'Give an exit code of at most 255.').nullish(),
    signal: z
      .string()
      .regex(/^SIG[A-Z0-9]{1,20}$/, 'Name a signal, such as SIGTERM.')
      .nullish(),
    pid: pid.nullish(),
  })
  .refine(({ exitCode, signal }) => exitCode != null || signal != null, 'Give `exitCode` or `signal`.')

/** Who reports is the key; that it is a runner speaking is what the call says. */
const runnerOf = ({ id, name, role }: Identity): Actor => ({ kind: 'runner', id, name, role })

builder.mutationFields((t) => ({
  registerProcess: t.field({
    type: Session,
    description: "A runner reports the agent's process.",
    args: { input: t.arg({ type: RegisterProcessInput, required: true }) },
    authScopes: { launch: true },
    errors: {
      types: [NotFoundError, InvalidTransitionError, InvalidInputError],
      dataField: { name: 'session' },
    },
    resolve: async (_root, { input }, { services: { journal }, identity }) => {
      const { host, pid, startedAt, command } = parseInput(registerInput, input)
      const process = { host, pid, command: command ?? null, startedAt: startedAt ?? journal.now() }
      return done(
        await registerProcess(journal, sessionIdOf(input.sessionId, identity), process, runnerOf(identity)),
      )
    },
  }),

  heartbeat: t.field({
    type: Session,
    description:
      'The process lives: to be sent every 15 seconds; after 45 seconds without it counts as gone.',
    args: { input: t.arg({ type: HeartbeatInput, required: true }) },
    authScopes: { launch: true },
    errors: { types: [NotFoundError, InvalidInputError], dataField: { name: 'session' } },
    resolve: async (_root, { input }, { services: { journal, gate }, identity }) => {
      const { gate: report } = parseInput(heartbeatInput, input)
      const session = done(await heartbeat(journal, sessionIdOf(input.sessionId, identity)))
      if (report)
        await gate.report(
          session.id,
          { host: session.processHost!, ...report, detail: report.detail ?? null },
          runnerOf(identity),
        )
      return session
    },
  }),

  reportExit: t.field({
    type: Session,
    description:
      'The process has ended. If the session still counted on it: an exit with 0 or by Ctrl-C pauses it, any other fails it; whatever is pending is cancelled.',
    args: { input: t.arg({ type: ReportExitInput, required: true }) },
    authScopes: { launch: true },
    errors: { types: [NotFoundError, InvalidInputError], dataField: { name: 'session' } },
    resolve: async (_root, { input }, { services: { journal }, identity }) => {
      const { exitCode = null, signal = null, pid = null } = parseInput(exitInput, input)
      return done(
        await reportExit(
          journal,
          sessionIdOf(input.sessionId, identity),
          { exitCode, signal, pid },
          runnerOf(identity),
        ),
      )
    },
  }),
}))
