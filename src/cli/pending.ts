import { type Api, createApi } from './api.ts'
import { findConnection } from './connection.ts'
import {
  type Elicitation,
  type ElicitationData,
  elicitationDocument,
  type QueueData,
  type QueuedSession,
  queueDocument,
} from './documents.ts'
import { exitCodes, Problem } from './problem.ts'
import { requestText } from './request-text.ts'
import { fromNow, quotedLine, sayJson, type Terminal } from './terminal.ts'

export const queueLengthMax = 100

/** Shows who needs a person: the requests that wait for an answer, and the sessions whose turn has ended. */
export async function pending(
  options: { json?: boolean },
  requestId: string | undefined,
  terminal: Terminal,
): Promise<number> {
  const api = createApi(await findConnection(terminal.environment))
  if (requestId !== undefined) {
    const request = await findRequest(api, requestId)
    if (options.json) sayJson(terminal, request)
    else for (const line of requestText(request, { whole: true })) terminal.say(line)
    return exitCodes.done
  }
  const { attentionQueue } = await api.request<QueueData>(queueDocument, { first: queueLengthMax })
  const sessions = attentionQueue.edges.map(({ node }) => node)
  const requests = sessions.flatMap(({ pendingElicitations }) => pendingElicitations)
  const waiting = sessions.filter(({ pendingElicitations }) => pendingElicitations.length === 0)
  if (options.json) {
    sayJson(terminal, {
      requests,
      sessions: waiting.map(({ pendingElicitations: _, ...session }) => session),
      totalCount: attentionQueue.totalCount,
    })
    return exitCodes.done
  }
  for (const request of requests) for (const line of [...requestText(request), '']) terminal.say(line)
  for (const session of waiting) terminal.say(waitingLine(session))
  if (sessions.length === 0) terminal.say('Nobody needs you.')
  else if (attentionQueue.totalCount > sessions.length)
    terminal.say(`… and ${attentionQueue.totalCount - sessions.length} more sessions.`)
  if (requests.length > 0) terminal.say('Answer with: holdpoint answer REQUEST_ID accept|decline|cancel')
  return exitCodes.done
}

export async function findRequest(api: Api, requestId: string): Promise<Elicitation> {
  const { elicitation } = await api.request<ElicitationData>(elicitationDocument, { requestId })
  if (elicitation) return elicitation
  throw new Problem(
    `There is no request ${JSON.stringify(requestId)} that this key can see. "holdpoint pending" lists those that wait.`,
  )
}

function waitingLine({ title, slug, needsInputSince, lostElicitation }: QueuedSession): string {
  const since = needsInputSince === null ? '' : ` ${fromNow(needsInputSince)}`
  const lost =
    lostElicitation === null
      ? ''
      : `; a request ${lostElicitation.reason === 'EXPIRED' ? 'expired unanswered' : 'was lost'}: ${quotedLine(lostElicitation.summary ?? '')}`
  return `${slug}  ${quotedLine(title)}: its turn ended${since}${lost}`
}
