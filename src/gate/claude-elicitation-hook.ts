import { isRecord, own } from '../base/json.ts'
import { toolNameCharactersMax } from '../base/limits.ts'
import { makeVisible, truncate } from '../base/text.ts'

/** What Claude Code tells its Elicitation hooks of a server's question. */
export interface HookElicitation {
  serverName: string | null
  mode: 'form' | 'url'
  message: string
  requestedSchema: Record<string, unknown>
  url: string | null
  elicitationId: string | null
}

export type ParsedHook = { ok: true; elicitation: HookElicitation } | { ok: false; problem: string }

/** Reads the JSON that Claude Code gives a hook, on stdin or as the body of a POST. Seen with 2.1.197 and 2.1.332. */
export function parseElicitationHook(input: unknown): ParsedHook {
  if (!isRecord(input)) return { ok: false, problem: 'A hook of Claude Code is given a JSON object.' }
  const text = (name: string) => {
    const value = own(input, name)
    return typeof value === 'string' ? value : null
  }
  const event = text('hook_event_name')
  if (event !== 'Elicitation')
    return {
      ok: false,
      problem: `This is a hook for the event Elicitation, and it was called for ${event === null ? 'none' : JSON.stringify(event.slice(0, 60))}. Move it to "Elicitation" in the settings.`,
    }
  const mode = text('mode') ?? 'form'
  if (mode !== 'form' && mode !== 'url')
    return {
      ok: false,
      problem: `The mode ${JSON.stringify(mode.slice(0, 60))} is unknown: only "form" and "url" can be asked.`,
    }
  const message = text('message')
  if (message === null)
    return { ok: false, problem: 'The hook was called without a message, so there is nothing to ask.' }
  const schema = own(input, 'requested_schema')
  const serverName = text('mcp_server_name')?.trim() || null
  return {
    ok: true,
    elicitation: {
      serverName: serverName === null ? null : makeVisible(truncate(serverName, toolNameCharactersMax)),
      mode,
      message,
      requestedSchema: isRecord(schema) ? schema : {},
      url: text('url'),
      elicitationId: text('elicitation_id'),
    },
  }
}

/**
 * What the hook answers. Claude Code passes content on unchecked, also where there must be none, so a URL gets none. The
 * clock is no person: what has expired is a cancel.
 */
export function elicitationHookReply(
  mode: 'form' | 'url',
  { action, content }: { action: 'accept' | 'decline' | 'cancel' | 'expired'; content: unknown },
) {
  return {
    hookSpecificOutput: {
      hookEventName: 'Elicitation',
      action: action === 'expired' ? 'cancel' : action,
      ...(action === 'accept' && mode === 'form' ? { content: content ?? {} } : {}),
    },
  }
}
