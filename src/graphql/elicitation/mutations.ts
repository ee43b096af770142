import { z } from 'zod'
import {
  AlreadyResolvedError,
  ExpiredError,
  InvalidContentError,
  InvalidInputError,
  NotFoundError,
  SelfApprovalError,
} from '../../base/refusal.ts'
import { answer } from '../../elicitation/answer.ts'
import { builder } from '../builder.ts'
import { badInput } from '../connection.ts'
import type { GraphqlContext } from '../context.ts'
import { ElicitationAction } from '../enums.ts'
import { done } from '../outcome.ts'
import { parseInput, text } from '../parse-input.ts'
import { Elicitation } from './elicitation.ts'

/** Answers in one batch. */
const answersMax = 50

const RespondToElicitationInput = builder.inputType('RespondToElicitationInput', {
  description: 'Name the request by its `id` or its `requestId`.',
  fields: (t) => ({
    id: t.id(),
    requestId: t.string(),
    action: t.field({ type: ElicitationAction, required: true }),
    content: t.field({
      type: 'JSON',
      description: 'An object of values by field name; kept with an accept only.',
    }),
    note: t.string({
      description: 'Why not, what instead: up to 2,000 characters for whoever can read them.',
    }),
  }),
})

const respondInput = z
  .object({
    id: z.string().nullish(),
    requestId: z.string().nullish(),
    action: z.enum(['accept', 'decline', 'cancel']),
    content: z.unknown().optional(),
    note: text(100_000).nullish(),
  })
  .refine(({ id, requestId }) => id != null || requestId != null, 'Give `id` or `requestId`.')
  .refine(({ id, requestId }) => id == null || requestId == null, 'Give `id` or `requestId`, not both.')

const refusals = [
  NotFoundError,
  AlreadyResolvedError,
  InvalidContentError,
  ExpiredError,
  SelfApprovalError,
  InvalidInputError,
]

async function respond(input: unknown, { services, identity, entrance }: GraphqlContext) {
  const { id, requestId, action, content, note } = parseInput(respondInput, input)
  const { desk } = services
  const request = id != null ? await desk.requests.byId(id) : await desk.requests.byRequestId(requestId!)
  return done(
    await answer(desk, request, { action, content: content ?? undefined, note }, identity, entrance),
  )
}

// Who may answer is for the domain to say: what it refuses goes on the record.
const mayRespond = { read: true }

builder.mutationFields((t) => ({
  respondToElicitation: t.field({
    type: Elicitation,
    description:
      'Answers a request. Exactly one answer wins; the same decision again by the same key is the same success.',
    args: { input: t.arg({ type: RespondToElicitationInput, required: true }) },
    authScopes: mayRespond,
    errors: { types: refusals, dataField: { name: 'elicitation' } },
    resolve: (_root, { input }, context) => respond(input, context),
  }),

  respondToElicitations: t.field({
    type: [Elicitation],
    description: `Answers up to ${answersMax} requests, each by itself: a verdict for each, in the order given.`,
    args: { input: t.arg({ type: [RespondToElicitationInput], required: true }) },
    authScopes: mayRespond,
    complexity: ({ input }) => ({ field: 1, multiplier: input.length }),
    itemErrors: {
      types: refusals,
      dataField: { name: 'elicitation' },
      result: { name: 'RespondToElicitationSuccess' },
      union: { name: 'RespondToElicitationResult' },
    },
    resolve: async (_root, { input }, context) => {
      if (input.length > answersMax) throw badInput(`Answer at most ${answersMax} requests at once.`)
      const verdicts = []
      // One after the other: two for the same request have an order, and a batch takes no more connections than one.
      for (const each of input) verdicts.push(await respond(each, context).catch((error: Error) => error))
      return verdicts as never
    },
  }),
}))
