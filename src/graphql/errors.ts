import {
  AlreadyResolvedError,
  ExpiredError,
  type FieldProblem,
  InvalidContentError,
  InvalidInputError,
  InvalidTransitionError,
  NotFoundError,
  SelfApprovalError,
} from '../base/refusal.ts'
import { builder } from './builder.ts'
import { Respondent } from './elicitation/respondent.ts'
import { ElicitationStatus, SessionStatus } from './enums.ts'

const UserError = builder.interfaceRef<Error>('UserError').implement({
  description: 'Why something was refused.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'What is wrong and what to do next, for a person.' }),
  }),
})

const FieldError = builder.objectRef<{ name: string; message: string }>('FieldError').implement({
  description: 'What is wrong with one field.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The field; empty when it is about the whole.' }),
    message: t.exposeString('message'),
  }),
})

const flat = (problems: FieldProblem[]) =>
  problems.flatMap(({ name, messages }) => messages.map((message) => ({ name, message })))

builder.objectType(NotFoundError, {
  name: 'NotFoundError',
  description: 'There is no such thing, or none that this key may see.',
  interfaces: [UserError],
})

builder.objectType(InvalidInputError, {
  name: 'InvalidInputError',
  description: 'The input breaks a rule.',
  interfaces: [UserError],
  fields: (t) => ({ fields: t.field({ type: [FieldError], resolve: ({ fields }) => flat(fields) }) }),
})

builder.objectType(InvalidContentError, {
  name: 'InvalidContentError',
  description: 'The content does not fit the form. The request is still pending.',
  interfaces: [UserError],
  fields: (t) => ({ fields: t.field({ type: [FieldError], resolve: ({ fields }) => flat(fields) }) }),
})

builder.objectType(AlreadyResolvedError, {
  name: 'AlreadyResolvedError',
  description: 'Another answer came first. A final status never changes.',
  interfaces: [UserError],
  fields: (t) => ({
    status: t.field({
      type: ElicitationStatus,
      resolve: ({ status }) => status as typeof ElicitationStatus.$inferType,
    }),
    respondedBy: t.expose('respondedBy', { type: Respondent, nullable: true }),
    respondedAt: t.expose('respondedAt', { type: 'DateTime', nullable: true }),
  }),
})

builder.objectType(ExpiredError, {
  name: 'ExpiredError',
  description: 'The deadline came first: the MCP server was told so and went on without approval.',
  interfaces: [UserError],
  fields: (t) => ({ expiresAt: t.expose('expiresAt', { type: 'DateTime' }) }),
})

builder.objectType(SelfApprovalError, {
  name: 'SelfApprovalError',
  description: 'The key is bound to the session that asks: no agent answers its own request.',
  interfaces: [UserError],
})

builder.objectType(InvalidTransitionError, {
  name: 'InvalidTransitionError',
  description: 'The state of the session does not allow this now.',
  interfaces: [UserError],
  fields: (t) => ({
    status: t.field({
      type: SessionStatus,
      resolve: ({ status }) => status as typeof SessionStatus.$inferType,
    }),
    event: t.exposeString('event', { description: 'What was to happen to it.' }),
  }),
})
