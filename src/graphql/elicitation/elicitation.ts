import { summarise } from '../../base/text.ts'
import type { Elicitation as ElicitationRow } from '../../database/generated/prisma/client.ts'
import type { Form } from '../../elicitation/form/field.ts'
import { parseForm } from '../../elicitation/form/parse.ts'
import { builder } from '../builder.ts'
import { Cause, ElicitationStatus, Listening, Mode } from '../enums.ts'
import { sessionOf } from '../rows.ts'
import { FormRef } from './form.ts'
import { Respondent } from './respondent.ts'

const forms = new WeakMap<ElicitationRow, Form>()

/** Parsed once a row, however many subscribers are sent it. */
function formOf(elicitation: ElicitationRow): Form {
  const form = forms.get(elicitation) ?? parseForm(elicitation.requestedSchema)
  forms.set(elicitation, form)
  return form
}

export const Elicitation = builder.prismaObject('Elicitation', {
  description:
    'A question that an MCP server put to a person. Whatever the server wrote (message, tool name, context, titles) is text from outside: show it as text, never as markup.',
  fields: (t) => ({
    id: t.exposeID('id'),
    requestId: t.exposeString('requestId', { description: 'Chosen by the MCP server; unique.' }),
    session: t.relation('session', {
      resolve: async (_query, elicitation, _args, context) => (await sessionOf(context, elicitation))!,
    }),
    serverName: t.exposeString('serverName', {
      nullable: true,
      description: 'Which MCP server asks, where that is known; else it is one of the session.',
    }),
    status: t.expose('status', { type: ElicitationStatus }),
    mode: t.expose('mode', { type: Mode }),
    message: t.exposeString('message'),
    summary: t.string({
      description: 'The tool and the message in one line of at most 300 characters.',
      resolve: ({ toolName, message }) => summarise(toolName, message),
    }),
    requestedSchema: t.expose('requestedSchema', {
      type: 'JSON',
      description: 'As the MCP server sent it; `form` is made from it.',
    }),
    form: t.field({
      type: FormRef,
      nullable: true,
      description: 'Null for a request of mode URL.',
      complexity: { field: 1, multiplier: 1 },
      resolve: (elicitation) => (elicitation.mode === 'url' ? null : formOf(elicitation)),
    }),
    url: t.exposeString('url', {
      nullable: true,
      description: 'Where something has to be done; mode URL only.',
    }),
    elicitationId: t.exposeString('elicitationId', {
      nullable: true,
      description: "The MCP server's own id of a request of mode URL.",
    }),
    callerAddress: t.string({
      nullable: true,
      description:
        'The network address that a request on the plain address came from; a flood is dismissed by it. Null on a capability address, for what was asked with a key, and to a key bound to a session.',
      resolve: ({ gateTokenId, callerAddress }, _args, { identity }) =>
        gateTokenId === null && identity.sessionId === null && !callerAddress?.startsWith('key:')
          ? callerAddress
          : null,
    }),
    toolName: t.exposeString('toolName', { nullable: true }),
    context: t.exposeString('context', { nullable: true }),
    meta: t.expose('meta', { type: 'JSON', description: 'The whole `_meta`, as sent.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime' }),
    content: t.expose('content', {
      type: 'JSON',
      nullable: true,
      description: 'What was answered; with an accept only.',
    }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'What the person said beside the decision.',
    }),
    cause: t.expose('cause', { type: Cause, nullable: true }),
    respondedAt: t.expose('respondedAt', { type: 'DateTime', nullable: true }),
    respondedBy: t.field({
      type: Respondent,
      nullable: true,
      description: 'Null while it is pending, and when no person ended it.',
      resolve: ({ respondedByName: name, respondedBySurface: surface }) =>
        name === null || surface === null ? null : { name, surface },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    lastPolledAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: (elicitation, _args, { services }) => services.presence.lastPolledAt(elicitation),
    }),
    listening: t.field({
      type: Listening,
      resolve: (elicitation, _args, { services }) => services.presence.listening(elicitation),
    }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a poll first carried the final answer away; null while it has reached nobody.',
    }),
  }),
})

export const ElicitationConnection = builder.connectionObject(
  { type: Elicitation, name: 'ElicitationConnection' },
  { name: 'ElicitationEdge' },
)
