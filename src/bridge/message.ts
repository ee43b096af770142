import { applyEdits, modify } from 'jsonc-parser'
import { isRecord, own } from '../base/json.ts'

export type MessageId = string | number

/**
 * A JSON-RPC message, read but not rebuilt: the line it came in is what goes on. Numbers that JavaScript cannot hold and
 * shapes that no SDK knows so pass unharmed.
 */
export interface Message {
  method: string | null
  /** Null for a notification; `0` and `""` are ids like any other. */
  id: MessageId | null
  params: Record<string, unknown>
  result: Record<string, unknown> | null
  error: Record<string, unknown> | null
}

/** Null for anything that is not one message: it is passed on unread. */
export function parseMessage(line: Buffer): Message | null {
  let value: unknown
  try {
    value = JSON.parse(line.toString())
  } catch {
    return null
  }
  if (!isRecord(value)) return null
  const record = (name: string) => {
    const inner = own(value, name)
    return isRecord(inner) ? inner : null
  }
  const [method, id] = [own(value, 'method'), own(value, 'id')]
  return {
    method: typeof method === 'string' ? method : null,
    id: typeof id === 'string' || typeof id === 'number' ? id : null,
    params: record('params') ?? {},
    result: record('result'),
    error: record('error'),
  }
}

/** `1` and `"1"` are two ids. */
export function idKey(id: unknown): string {
  return JSON.stringify(id) ?? 'undefined'
}

/** A value to set at a path; undefined takes the name away. */
export type Change = [path: string[], value: unknown]

/** Changes values of a line, and not a byte beside them. */
export function editLine(line: string, changes: readonly Change[]): string {
  return changes.reduce((text, [path, value]) => applyEdits(text, modify(text, path, value, {})), line)
}

export function resultLine(id: MessageId, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

export function errorLine(id: MessageId, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
}

export function notificationLine(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

/** JSON-RPC and MCP. */
export const errorCode = {
  invalidParams: -32_602,
  internal: -32_603,
  urlElicitationRequired: -32_042,
} as const
