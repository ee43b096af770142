import { z } from 'zod'
import type { Asker } from './asker.ts'
import { outcomeResult } from './outcome-text.ts'
import { defineTool } from './tool.ts'
import { waitSeconds, waitWithProgress } from './waiting.ts'

export const awaitAnswer = defineTool({
  name: 'await_answer',
  title: 'Go on waiting for an answer',
  description:
    'Goes on waiting for the answer to a question that ask_person put and that was still pending. An answer is handed out for ten minutes after it was first fetched.',
  input: z.strictObject({
    request_id: z.string().describe('The request id that ask_person returned.'),
    wait_seconds: waitSeconds,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  async run(asker: Asker, { request_id, wait_seconds }, call) {
    // Whoever stops waiting here may come again: the question stays.
    const outcome = await waitWithProgress(asker, request_id, call, {
      waitMs: wait_seconds * 1_000,
      withdrawWhenLeft: false,
    })
    return outcomeResult(request_id, outcome)
  },
})
