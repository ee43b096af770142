import { z } from 'zod'
import type { Asker } from './asker.ts'
import { parseToolUse, permissionPrompt } from './permission.ts'
import { defineTool, toolError, toolResult } from './tool.ts'
import { waitWithProgress } from './waiting.ts'

/**
 * The permission prompt of Claude Code: `--permission-prompt-tool mcp__holdpoint__approve_tool_use`. The text of the
 * result is JSON, as that flag wants it; anything but a decision is an error, which Claude Code takes for "not allowed".
 */
export const approveToolUse = defineTool({
  name: 'approve_tool_use',
  title: 'Let the person decide on a tool use',
  description:
    'For the --permission-prompt-tool flag of Claude Code, not for you: it asks the person whether a tool may be used and waits for as long as that takes.',
  // Whatever a later version sends along is none of a reason to refuse the prompt.
  input: z.looseObject({
    tool_name: z.string().min(1),
    input: z.unknown().meta({ type: 'object' }).optional(),
    tool_use_id: z.string().optional(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  async run(asker: Asker, args, call) {
    const use = parseToolUse(args)
    if (!use) return toolError('INVALID_INPUT: Send tool_name, and input as an object.')
    const { question, replyTo } = permissionPrompt(use)
    const requestId = await asker.ask(question, call, { patienceMs: Number.POSITIVE_INFINITY })
    // Nobody comes back for a permission: a caller that is gone takes the question with it.
    const outcome = await waitWithProgress(asker, requestId, call, {
      waitMs: Number.POSITIVE_INFINITY,
      withdrawWhenLeft: true,
    })
    if (outcome) return toolResult(JSON.stringify(replyTo(outcome)))
    await asker.withdraw(requestId)
    return toolError(
      'UNREACHABLE: The Holdpoint server is going away, and nobody has decided yet. This is not a refusal; ask again.',
    )
  },
})
