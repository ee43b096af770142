import { z } from 'zod'
import { isRecord } from '../base/json.ts'
import { contextBytesMax, messageBytesMax } from '../base/limits.ts'
import { checkSchemaLimits } from '../elicitation/form/schema-limits.ts'
import { type Asker, formQuestion } from './asker.ts'
import { outcomeResult } from './outcome-text.ts'
import { defineTool } from './tool.ts'
import { waitSeconds, waitWithProgress } from './waiting.ts'

/** A question waits at least this long for a server that is not reachable, however short the wait for the answer is. */
const patienceMinMs = 5_000

const textOf = (bytesMax: number) =>
  z
    .string()
    .refine((text) => Buffer.byteLength(text) <= bytesMax, `is over the limit of ${bytesMax / 1024} KiB`)

// Not an object of zod's, which drops the name __proto__ and is not what the schema is checked by.
const requestedSchema = z
  .unknown()
  .superRefine((schema, issues) => {
    if (schema === undefined) return
    for (const message of isRecord(schema) ? checkSchemaLimits(schema) : ['must be a JSON object'])
      issues.addIssue({ code: 'custom', message })
  })
  .meta({
    type: 'object',
    description:
      'The form, as JSON Schema: an object with flat properties of type string, number, integer, boolean or array of options.',
  })

export const askPerson = defineTool({
  name: 'ask_person',
  title: 'Ask the person',
  description:
    'Asks the person who watches this session, and waits for the answer. Use it when you need a decision, a choice or an approval that is not yours to make. ' +
    'With requestedSchema the person fills in a form; without it they accept or decline. ' +
    'Returns "pending" with the request id when nobody has answered in time: call await_answer then.',
  input: z.strictObject({
    message: textOf(messageBytesMax)
      .refine((text) => text.trim() !== '', 'must not be blank: it is what the person reads')
      .describe(
        'What the person reads, as plain text. Say what you want to do and what depends on the answer.',
      ),
    requestedSchema: requestedSchema.optional(),
    context: textOf(contextBytesMax).optional().describe('Background that helps to decide, as plain text.'),
    wait_seconds: waitSeconds,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  async run(asker: Asker, { message, requestedSchema, context, wait_seconds }, call) {
    const waitMs = wait_seconds * 1_000
    const question = formQuestion({
      message,
      requestedSchema: isRecord(requestedSchema) ? requestedSchema : {},
      context: context?.trim() ? context : null,
      toolName: 'ask_person',
      serverName: 'the agent itself',
    })
    const requestId = await asker.ask(question, call, { patienceMs: Math.max(waitMs, patienceMinMs) })
    const outcome = await waitWithProgress(asker, requestId, call, {
      waitMs,
      withdrawWhenLeft: !asker.outlivesCalls,
    })
    return outcomeResult(requestId, outcome)
  },
})
