import { isRecord, own } from '../base/json.ts'
import { messageBytesMax, toolNameCharactersMax } from '../base/limits.ts'
import { startWithin, truncate } from '../base/text.ts'
import { metaKey } from '../gate/meta-key.ts'
import { describeArguments } from './arguments-text.ts'
import { type AgentQuestion, formQuestion, type Outcome } from './asker.ts'
import { userQuestionForm } from './user-question.ts'

/** What `--permission-prompt-tool` of Claude Code is called with. */
export interface ToolUse {
  toolName: string
  input: Record<string, unknown>
  toolUseId: string | null
}

/** What it takes as the reply. An allow without `updatedInput` is refused by some versions (seen with 2.1.197). */
export type PermissionReply =
  | { behavior: 'allow'; updatedInput: Record<string, unknown> }
  | { behavior: 'deny'; message: string }

/** A tool use as a question that a person can decide, and what their answer means for it. */
export interface PermissionPrompt {
  question: AgentQuestion
  replyTo(outcome: Outcome): PermissionReply
}

const askedBy = "the agent's permission prompt"

export function permissionPrompt(use: ToolUse): PermissionPrompt {
  const meta = use.toolUseId === null ? {} : { [metaKey.toolUseId]: use.toolUseId }
  const toolName = truncate(use.toolName, toolNameCharactersMax)
  const asked = use.toolName === 'AskUserQuestion' ? userQuestionForm(own(use.input, 'questions')) : null
  if (asked)
    return {
      question: formQuestion({ ...asked.form, toolName, meta, serverName: askedBy }),
      replyTo: (outcome) =>
        outcome.action === 'accept'
          ? { behavior: 'allow', updatedInput: { ...use.input, answers: asked.answersOf(outcome.content) } }
          : denial(outcome),
    }
  return {
    question: formQuestion({ message: messageOf(use), toolName, meta, serverName: askedBy }),
    replyTo: (outcome) =>
      outcome.action === 'accept' ? { behavior: 'allow', updatedInput: use.input } : denial(outcome),
  }
}

function denial({ action, note }: Outcome): PermissionReply {
  switch (action) {
    case 'decline':
      return {
        behavior: 'deny',
        message: note ?? 'The person declined this. Do not look for another way to the same effect.',
      }
    case 'expired':
      return {
        behavior: 'deny',
        message:
          'Nobody decided in time, so this was not run. That is neither a yes nor a no: say that it is still open.',
      }
    default:
      return {
        behavior: 'deny',
        message:
          note ?? 'This was dismissed without a decision, so it was not run. That is neither a yes nor a no.',
      }
  }
}

function messageOf({ toolName, input }: ToolUse): string {
  const names = Object.keys(input)
  const head = `The agent asks to use the tool ${truncate(toolName, toolNameCharactersMax)}${names.length > 0 ? ' with:' : ', without arguments.'}`
  return cut([head, ...(names.length > 0 ? ['', describeArguments(input)] : [])].join('\n'))
}

const cutNoticeBytes = 200

/** What is too long is cut where everybody can see it: nobody should approve what they were not shown. */
function cut(message: string): string {
  const bytes = Buffer.byteLength(message)
  if (bytes <= messageBytesMax) return message
  const kept = startWithin(message, messageBytesMax - cutNoticeBytes)
  return `${kept}\n… CUT HERE: ${bytes - Buffer.byteLength(kept)} of ${bytes} bytes are not shown. Decline if you have to see all of it.`
}

/** Reads what the runtime sends; null when it is not a tool use. */
export function parseToolUse(given: Record<string, unknown>): ToolUse | null {
  const [toolName, input, toolUseId] = [
    own(given, 'tool_name'),
    own(given, 'input'),
    own(given, 'tool_use_id'),
  ]
  if (typeof toolName !== 'string' || toolName.trim() === '' || !(input === undefined || isRecord(input)))
    return null
  return {
    toolName,
    input: input ?? {},
    toolUseId: typeof toolUseId === 'string' ? truncate(toolUseId, 200) : null,
  }
}
