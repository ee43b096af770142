import { isRecord, own } from '../base/json.ts'
import { bridgeHoldsMax } from '../base/limits.ts'
import { metaKey } from '../gate/meta-key.ts'
import { AskError, type Outcome } from '../mcp/asker.ts'
import type { GateClient } from './gate-client.ts'
import { errorCode } from './message.ts'
import type { OpenCall } from './open-calls.ts'
import { elicitationQuestion } from './question.ts'

/** The result of an elicitation, as native clients give it. */
export interface ElicitResult {
  action: 'accept' | 'decline' | 'cancel'
  content?: Record<string, unknown>
  _meta?: Record<string, unknown>
}

export interface AskingOptions {
  gate: Pick<GateClient, 'hold'>
  /** As the launch named the server; null to take the server's own word for it. */
  serverName: string | null
  log(message: string): void
  /** Called now and then while a person is being asked. */
  onTick(): void
  tickMs: number
}

/** What is being asked for one server, and what ends it. */
export interface Asking {
  /** How many tasks ask or wait. */
  readonly size: number
  /** Fires when either side is gone. */
  readonly ended: AbortSignal
  hasRoomFor(questions: number): boolean
  /** Does something that asks, and ticks meanwhile. */
  begin(task: () => Promise<void>): void
  /** Asks a person; `calls` are those that it may be about. Null when `signal` fired first. */
  elicit(
    params: Record<string, unknown>,
    calls: readonly OpenCall[],
    signal: AbortSignal,
  ): Promise<ElicitResult | null>
  /** The server saw the person finish what they were sent to an address for. False when that is nothing of ours. */
  complete(elicitationId: unknown): boolean
  /** What the server says of itself. */
  introduce(serverInfo: unknown): void
  /** The server stopped waiting by itself. */
  gaveUpAfter(ms: number): void
  /** Takes everything back. */
  end(): Promise<void>
}

export function createAsking({ gate, serverName, log, onTick, tickMs }: AskingOptions): Asking {
  const tasks = new Set<Promise<void>>()
  const completions = new Map<string, () => void>()
  const ending = new AbortController()
  let serverInfo: Record<string, unknown> | null = null
  let patienceMs: number | null = null
  let ticker: NodeJS.Timeout | undefined

  return {
    get size() {
      return tasks.size
    },
    ended: ending.signal,
    hasRoomFor: (questions) => !ending.signal.aborted && tasks.size + questions <= bridgeHoldsMax,
    begin(task) {
      const running = task()
        .catch((error: unknown) => log(`The bridge failed: ${error instanceof Error ? error.stack : error}`))
        .finally(() => {
          tasks.delete(running)
          if (tasks.size > 0) return
          clearInterval(ticker)
          ticker = undefined
        })
      tasks.add(running)
      ticker ??= setInterval(onTick, tickMs)
    },
    async elicit(params, calls, signal) {
      const question = elicitationQuestion(params, {
        serverName: serverName ?? nameIn(serverInfo),
        serverInfo,
        calls,
        patienceMs,
      })
      if (typeof question === 'string') throw new AskError('INVALID_INPUT', question)
      const { mode, elicitationId } = question
      const completed = new AbortController()
      if (elicitationId !== null) completions.set(elicitationId, () => completed.abort())
      try {
        const takenBack = AbortSignal.any([signal, ending.signal])
        const outcome = await gate.hold(question, AbortSignal.any([takenBack, completed.signal]))
        if (outcome) return resultOf(mode, outcome)
        // The person has finished; there is nothing left for them to say.
        return takenBack.aborted ? null : { action: 'accept' }
      } finally {
        if (elicitationId !== null) completions.delete(elicitationId)
      }
    },
    complete(elicitationId) {
      const complete = typeof elicitationId === 'string' ? completions.get(elicitationId) : undefined
      complete?.()
      return complete !== undefined
    },
    introduce(info) {
      if (isRecord(info)) serverInfo = info
    },
    gaveUpAfter(ms) {
      patienceMs = ms
    },
    async end() {
      ending.abort()
      await Promise.all(tasks)
    },
  }
}

function nameIn(info: Record<string, unknown> | null): string | null {
  const names = info ? [own(info, 'title'), own(info, 'name')] : []
  return names.find((name): name is string => typeof name === 'string' && name.trim() !== '') ?? null
}

function resultOf(mode: 'form' | 'url', { action, content, note }: Outcome): ElicitResult {
  return {
    // The clock is no person: nothing but their Decline may come out as one.
    action: action === 'expired' ? 'cancel' : action,
    ...(action === 'accept' && mode === 'form' ? { content: content ?? {} } : {}),
    ...(note === null ? {} : { _meta: { [metaKey.note]: note } }),
  }
}

/** What is wrong with the question itself. */
const unaskable: ReadonlySet<string> = new Set(['INVALID_INPUT', 'BODY_TOO_LARGE'])

/** An outage is an error that names its cause, and never an answer. */
export function faultOf(error: unknown): [code: number, message: string] {
  if (!(error instanceof AskError)) throw error
  return [
    unaskable.has(error.code) ? errorCode.invalidParams : errorCode.internal,
    `Holdpoint could not ask a person (${error.code}): ${error.message}`,
  ]
}
