import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { Refusal } from '../base/refusal.ts'
import { toolError } from './tool.ts'

/** The same words as on every surface; the code in front is what a program goes by. */
export function refusalError({ code, message }: Refusal): CallToolResult {
  return toolError(`${code}: ${message}`)
}
