import { approveToolUse } from './approve-tool-use.ts'
import { askPerson } from './ask-person.ts'
import type { Asker } from './asker.ts'
import { awaitAnswer } from './await-answer.ts'
import type { DeskContext } from './desk-context.ts'
import { getElicitation } from './get-elicitation.ts'
import { getSession } from './get-session.ts'
import { listPendingElicitations } from './list-pending-elicitations.ts'
import { respondToElicitation } from './respond-to-elicitation.ts'
import type { Tool } from './tool.ts'

/** What an agent asks a person with. */
export const askingTools: readonly Tool<Asker>[] = [askPerson, awaitAnswer, approveToolUse]

/** What somebody reads and answers with. */
export const deskTools: readonly Tool<DeskContext>[] = [
  listPendingElicitations,
  getElicitation,
  getSession,
  respondToElicitation,
]
