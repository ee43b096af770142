import { isRecord, own } from '../base/json.ts'
import { contextBytesMax, toolNameCharactersMax } from '../base/limits.ts'
import { startWithin, truncate } from '../base/text.ts'
import { metaKey } from '../gate/meta-key.ts'
import { describeArguments } from '../mcp/arguments-text.ts'
import { type AgentQuestion, formQuestion } from '../mcp/asker.ts'
import type { OpenCall } from './open-calls.ts'

/** Where a server's question comes from, as far as the bridge can see. */
export interface Origin {
  serverName: string | null
  /** What the server said of itself. */
  serverInfo: Record<string, unknown> | null
  /** The calls that it may be about: one that is certain, or several of which one is. */
  calls: readonly OpenCall[]
  /** After how long this server gave up before, in ms. */
  patienceMs: number | null
}

/** A native elicitation as a question for a person; a text says what is wrong with it. */
export function elicitationQuestion(params: Record<string, unknown>, origin: Origin): AgentQuestion | string {
  const [message, schema, url, elicitationId, meta] = [
    'message',
    'requestedSchema',
    'url',
    'elicitationId',
    '_meta',
  ].map((name) => own(params, name))
  // A revision without modes has forms only.
  const mode = own(params, 'mode') ?? 'form'
  if (mode !== 'form' && mode !== 'url')
    return `The elicitation mode ${JSON.stringify(mode)} is not supported; form and url are.`
  if (typeof message !== 'string') return 'An elicitation needs a message.'
  const [call, ...others] = origin.calls
  const only = others.length === 0 ? call : undefined
  return formQuestion({
    mode,
    message,
    requestedSchema: isRecord(schema) ? schema : {},
    url: typeof url === 'string' ? url : null,
    elicitationId: typeof elicitationId === 'string' ? elicitationId : null,
    toolName: only?.toolName ? truncate(only.toolName, toolNameCharactersMax) : null,
    context: contextOf(origin),
    serverName: origin.serverName,
    meta: {
      ...(isRecord(meta) ? meta : {}),
      ...(origin.serverInfo ? { [metaKey.serverInfo]: origin.serverInfo } : {}),
      ...(only ? { [metaKey.call]: callIdsOf(only) } : {}),
    },
  })
}

/** By what the runtime's own log names the call. */
function callIdsOf({ id, meta }: OpenCall): Record<string, unknown> {
  const names = ['claudecode/toolUseId', 'threadId', 'callId'].filter(
    (name) => typeof own(meta, name) === 'string',
  )
  return { id, ...Object.fromEntries(names.map((name) => [name, own(meta, name)])) }
}

function contextOf({ calls, patienceMs }: Origin): string | null {
  const parts: string[] = []
  if (patienceMs !== null)
    parts.push(`This server stopped waiting for an answer after ${Math.round(patienceMs / 1_000)} s before.`)
  const [call, ...others] = calls
  if (call && others.length === 0) {
    if (Object.keys(call.args).length > 0)
      parts.push(`The tool was called with:\n${describeArguments(call.args)}`)
  } else if (call) {
    const listed = calls.map(({ toolName, args }) => `- ${toolName ?? 'a tool'} ${JSON.stringify(args)}`)
    parts.push(`Several calls are open; it is not known which of them this is about:\n${listed.join('\n')}`)
  }
  return parts.length > 0 ? cut(parts.join('\n\n')) : null
}

const cutNotice = '\n… cut here'

function cut(text: string): string {
  if (Buffer.byteLength(text) <= contextBytesMax) return text
  return `${startWithin(text, contextBytesMax - Buffer.byteLength(cutNotice))}${cutNotice}`
}
