import { actorOf } from '../../auth/identity.ts'
import { InvalidTransitionError, NotFoundError } from '../../base/refusal.ts'
import { countSessionsOnPlainAddress } from '../../elicitation/plain-address.ts'
import type { GateStatus } from '../../gate/status.ts'
import { builder } from '../builder.ts'
import { GateAccess } from '../enums.ts'
import { done } from '../outcome.ts'
import { sessionIdOf } from '../session/arguments.ts'

const GateIncident = builder.objectRef<NonNullable<GateStatus['incident']>>('GateIncident').implement({
  description: 'A time in which the gate could not be reached.',
  fields: (t) => ({
    openedAt: t.expose('openedAt', { type: 'DateTime' }),
    closedAt: t.expose('closedAt', { type: 'DateTime', nullable: true }),
    detail: t.exposeString('detail'),
    pagedAt: t.expose('pagedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When somebody was paged.',
    }),
  }),
})

const GateHost = builder.objectRef<GateStatus['hosts'][number]>('GateHost').implement({
  description: 'What a runner reported of the gate, from a host that agents run on.',
  fields: (t) => ({
    host: t.exposeString('host'),
    reachable: t.exposeBoolean('reachable', {
      nullable: true,
      description: 'Null when the report is too old.',
    }),
    detail: t.exposeString('detail', { nullable: true }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime' }),
  }),
})

export const ApprovalGate = builder.objectRef<GateStatus>('ApprovalGate').implement({
  description: 'Where MCP servers send their requests, and whether they can get there.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'What agents are told.' }),
    access: t.expose('access', { type: GateAccess }),
    reachable: t.exposeBoolean('reachable', {
      nullable: true,
      description: 'From the server itself. Null is unknown: never checked, or more than 30 minutes ago.',
    }),
    detail: t.exposeString('detail', { nullable: true }),
    checkedAt: t.expose('checkedAt', { type: 'DateTime', nullable: true }),
    incident: t.expose('incident', {
      type: GateIncident,
      nullable: true,
      description: 'The one that is open, or else the latest.',
    }),
    hosts: t.expose('hosts', { type: [GateHost] }),
    expirationMs: t.int({
      description:
        'How long a request that names no deadline of its own waits for a person, in milliseconds: what agents are told as ELICITATION_TTL_MS.',
      resolve: (_gate, _args, { services }) => services.desk.defaultExpirationMs,
    }),
    sessionsOnPlainAddress: t.int({
      description:
        'Living sessions that still ask on the plain address. At zero, nothing is lost by closing it (HOLDPOINT_GATE_ACCESS capability).',
      resolve: (_gate, _args, { services }) => countSessionsOnPlainAddress(services.journal.database),
    }),
  }),
})

const GateToken = builder.objectRef<{ url: string; createdAt: Date }>('GateToken').implement({
  description: 'A capability address of a session. It is shown this once.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The collection URL: keep it as secret as a password.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
})

builder.queryField('gate', (t) =>
  t.field({
    type: ApprovalGate,
    authScopes: { read: true },
    resolve: (_root, _args, { services }) => services.gate.status(),
  }),
)

builder.mutationFields((t) => ({
  probeGate: t.field({
    type: ApprovalGate,
    description: 'Checks now whether the gate can be reached.',
    authScopes: { launch: true },
    errors: { types: [], dataField: { name: 'gate' } },
    resolve: (_root, _args, { services }) => services.gate.probe(),
  }),

  rotateGateToken: t.field({
    type: GateToken,
    description:
      "Ends the session's capability addresses and makes a new one. The ended ones create no more, but what they created is still polled there.",
    args: { sessionId: t.arg.id({ required: true }) },
    authScopes: { launch: true },
    errors: { types: [NotFoundError, InvalidTransitionError], dataField: { name: 'gateToken' } },
    resolve: async (_root, { sessionId }, { services, identity }) =>
      done(await services.gate.rotateToken(sessionIdOf(sessionId, identity), actorOf(identity))),
  }),
}))
