import type { Mode } from '../database/generated/prisma/enums.ts'
import type { Call } from './tool.ts'

/** A question of an agent or of its runtime, on its way to a person. */
export interface AgentQuestion {
  mode: Mode
  message: string
  requestedSchema: Record<string, unknown>
  url: string | null
  elicitationId: string | null
  toolName: string | null
  context: string | null
  /** Who asks, where the address does not say. */
  serverName: string | null
  meta: Record<string, unknown>
}

/** What a question has come to. `content` is null unless it was accepted with some. */
export interface Outcome {
  action: 'accept' | 'decline' | 'cancel' | 'expired'
  content: Record<string, unknown> | null
  note: string | null
}

/**
 * Where questions are put: the domain itself on the server, its public API everywhere else. What cannot be asked throws
 * an `AskError`.
 */
export interface Asker {
  /** @returns the request id. */
  ask(
    question: AgentQuestion,
    call: Pick<Call, 'id' | 'signal'>,
    options: { patienceMs: number },
  ): Promise<string>
  /** @returns null while it is still pending when the time is up, the caller leaves or the server goes away. */
  wait(requestId: string, options: { waitMs: number; signal: AbortSignal }): Promise<Outcome | null>
  /** Takes a question back. Whether it was still pending makes no difference. */
  withdraw(requestId: string): Promise<void>
  /** Whether somebody who lost the connection of a call can still fetch the answer by another one. */
  readonly outlivesCalls: boolean
}

/** Why a question was not put to anybody, or its answer cannot be fetched. It is never anybody's decision. */
export class AskError extends Error {
  /** Stable, as on every surface; `UNREACHABLE` when Holdpoint cannot be reached. */
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'AskError'
    this.code = code
  }
}

export function formQuestion(
  question: Pick<AgentQuestion, 'message'> & Partial<AgentQuestion>,
): AgentQuestion {
  return {
    mode: 'form',
    requestedSchema: {},
    url: null,
    elicitationId: null,
    toolName: null,
    context: null,
    serverName: null,
    meta: {},
    ...question,
  }
}
