import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { AlreadyResolvedError, InvalidContentError, type Refusal } from '../base/refusal.ts'
import { toolError } from './tool.ts'

/** The same words as on every surface, with the code in front, and the same as data. */
export function refusalError(refusal: Refusal): CallToolResult {
  const { code, message } = refusal
  return { ...toolError(`${code}: ${message}`), structuredContent: { code, ...detailsOf(refusal) } }
}

function detailsOf(refusal: Refusal): Record<string, unknown> {
  if (refusal instanceof AlreadyResolvedError)
    return {
      status: refusal.status,
      responded_at: refusal.respondedAt?.toISOString() ?? null,
      responded_by: refusal.respondedBy?.name ?? null,
    }
  if (refusal instanceof InvalidContentError)
    return { fields: Object.fromEntries(refusal.fields.map(({ name, messages }) => [name, messages])) }
  return {}
}
