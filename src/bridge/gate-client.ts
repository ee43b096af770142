import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { errorText } from '../base/error-text.ts'
import { isRecord, own } from '../base/json.ts'
import { withoutToken } from '../gate/address.ts'
import { metaKey } from '../gate/meta-key.ts'
import { type AgentQuestion, AskError, type Asker, type Outcome } from '../mcp/asker.ts'
import type { GateAddress } from './gate-address.ts'
import { gateRequest, Outage } from './gate-request.ts'

/** Asks over HTTP, by the fallback protocol. Restarts and outages of the server are waited out. */
export interface GateClient extends Asker {
  /** Asks and waits for as long as it takes. Null when `signal` fired first; the question is then taken back. */
  hold(question: AgentQuestion, signal: AbortSignal): Promise<Outcome | null>
}

const requestTimeoutMs = 10_000
/** Within what proxies allow a response to take, and far above what a poll costs. */
const pollHoldMs = 25_000
const pollPauseMs = 1_000
const retryMinMs = 250
const retryMaxMs = 5_000
const patienceDefaultMs = 60 * 60_000
/** An outage that begins late gets this long all the same: a restart must not end a wait. */
const outageMinMs = 60_000
const withdrawMs = 2_000
const questionsMax = 1_000

interface Asked {
  withdrawToken: string | null
  /** When an outage is given up on. */
  giveUpAt: number
}

export function createGateClient(
  address: GateAddress,
  { log }: { log: (message: string) => void },
): GateClient {
  const { requestUrl, pollUrl, sessionId, apiKey, ttlMs } = address
  const headers: Record<string, string> = apiKey === null ? {} : { 'x-api-key': apiKey }
  const asked = new Map<string, Asked>()
  const urlOf = (requestId: string) => `${pollUrl.replace(/\/+$/, '')}/${encodeURIComponent(requestId)}`
  let awaySince: number | null = null

  /** Tries on through an outage, until `giveUpAt`. Null when `signal` fires while it pauses. */
  async function persist<T>(
    attempt: () => Promise<T>,
    giveUpAt: (since: number) => number,
    signal: AbortSignal,
  ): Promise<T | null> {
    const begun = performance.now()
    for (let delayMs = retryMinMs; ; delayMs = Math.min(delayMs * 2, retryMaxMs)) {
      try {
        const result = await attempt()
        if (awaySince !== null) log('Holdpoint can be asked again.')
        awaySince = null
        return result
      } catch (error) {
        if (signal.aborted) return null
        if (!(error instanceof Outage)) throw error
        if (awaySince === null)
          log(`Holdpoint could not be asked at ${withoutToken(requestUrl)} (${error.message}); trying on.`)
        awaySince ??= performance.now()
        const leftMs = giveUpAt(begun) - performance.now()
        if (leftMs <= 0)
          throw new AskError(
            'UNREACHABLE',
            `Holdpoint could not be asked at ${withoutToken(requestUrl)} (${error.message}). Nobody has decided anything.`,
            { cause: error },
          )
        await pause(Math.min(Math.max(delayMs, error.retryAfterMs), leftMs), null, { signal }).catch(
          () => null,
        )
        if (signal.aborted) return null
      }
    }
  }

  async function ask(question: AgentQuestion, patienceMs: number, signal: AbortSignal): Promise<string> {
    const requestId = randomUUID()
    const giveUpAt =
      performance.now() + (Number.isFinite(patienceMs) ? patienceMs : (ttlMs ?? patienceDefaultMs))
    const body = bodyOf(requestId, question, { sessionId, ttlMs })
    // Not cut short by the signal: what has been created can only be taken back by whoever knows of it.
    const created = await persist(
      () => gateRequest(requestUrl, { method: 'POST', headers, body, timeoutMs: requestTimeoutMs }),
      () => giveUpAt,
      signal,
    )
    if (!created)
      throw new AskError('WITHDRAWN', 'The question was taken back before it could be put to anybody.')
    const { body: answered } = created
    const given = own(answered, 'requestId')
    const id = typeof given === 'string' ? given : requestId
    const meta = own(answered, '_meta')
    const token = isRecord(meta) ? own(meta, metaKey.withdraw) : null
    if (asked.size >= questionsMax) asked.delete(asked.keys().next().value!)
    asked.set(id, { withdrawToken: typeof token === 'string' ? token : null, giveUpAt })
    return id
  }

  async function wait(requestId: string, waitMs: number, signal: AbortSignal): Promise<Outcome | null> {
    const until = performance.now() + waitMs
    while (!signal.aborted) {
      const begun = performance.now()
      const holdMs = Math.max(0, Math.min(pollHoldMs, until - begun))
      const url = `${urlOf(requestId)}?wait=${(holdMs / 1_000).toFixed(1)}`
      const polled = await persist(
        () => gateRequest(url, { method: 'GET', headers, timeoutMs: holdMs + requestTimeoutMs, signal }),
        (since) =>
          Number.isFinite(waitMs)
            ? until
            : Math.max(asked.get(requestId)?.giveUpAt ?? 0, since + outageMinMs),
        signal,
      )
      if (!polled) return null
      const outcome = outcomeOf(polled.body)
      if (outcome) {
        asked.delete(requestId)
        return outcome
      }
      const now = performance.now()
      if (now >= until) return null
      // A poll that was not held (too many are, or the server goes away) comes again soon, not at once.
      if (now - begun < pollPauseMs)
        await pause(Math.min(pollPauseMs, until - now), null, { signal }).catch(() => null)
    }
    return null
  }

  async function withdraw(requestId: string): Promise<void> {
    const token = asked.get(requestId)?.withdrawToken
    asked.delete(requestId)
    const until = performance.now() + withdrawMs
    const attempt = () =>
      gateRequest(urlOf(requestId), {
        method: 'DELETE',
        headers: { ...headers, ...(token ? { 'holdpoint-withdraw': token } : {}) },
        timeoutMs: Math.max(1, until - performance.now()),
      })
    await persist(attempt, () => until, AbortSignal.timeout(withdrawMs)).catch((error: unknown) =>
      // It stays until its deadline, and shows that nobody listens any more.
      log(`A question could not be taken back: ${errorText(error)}`),
    )
  }

  return {
    // Whoever asked over HTTP is this process alone: when its caller goes, nobody is left to fetch an answer.
    outlivesCalls: false,
    ask: (question, { signal }, { patienceMs }) => ask(question, patienceMs, signal),
    wait: (requestId, { waitMs, signal }) => wait(requestId, waitMs, signal),
    withdraw,
    async hold(question, signal) {
      if (signal.aborted) return null
      const requestId = await ask(question, Number.POSITIVE_INFINITY, signal).catch((error: unknown) => {
        if (signal.aborted) return null
        throw error
      })
      if (requestId === null) return null
      try {
        const outcome = await wait(requestId, Number.POSITIVE_INFINITY, signal)
        if (!outcome) await withdraw(requestId)
        return outcome
      } catch (error) {
        // Nobody waits for it any more, whatever went wrong.
        await withdraw(requestId)
        throw error
      }
    },
  }
}

function bodyOf(
  requestId: string,
  question: AgentQuestion,
  { sessionId, ttlMs }: Pick<GateAddress, 'sessionId' | 'ttlMs'>,
): Record<string, unknown> {
  const { mode, message, requestedSchema, url, elicitationId, toolName, context, serverName, meta } = question
  const expiresAt = ttlMs === null ? {} : { [metaKey.expiresAt]: new Date(Date.now() + ttlMs).toISOString() }
  const ours = {
    [metaKey.requestId]: requestId,
    [metaKey.sessionId]: sessionId,
    [metaKey.toolName]: toolName,
    [metaKey.context]: context,
    [metaKey.serverName]: serverName,
  }
  // What the question itself asks for may be sooner than we would wait; who asks, and for whom, is ours alone to say.
  const theirs = Object.entries(meta).filter(([name]) => !Object.hasOwn(ours, name))
  const known = Object.entries(ours).filter(([, value]) => value !== null)
  return {
    mode,
    message,
    ...(mode === 'url' ? { url, elicitationId } : { requestedSchema }),
    _meta: { ...expiresAt, ...Object.fromEntries([...theirs, ...known]) },
  }
}

function outcomeOf(body: Record<string, unknown>): Outcome | null {
  const [action, content, meta] = [own(body, 'action'), own(body, 'content'), own(body, '_meta')]
  if (action === 'pending') return null
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel' && action !== 'expired')
    throw new AskError(
      'NOT_HOLDPOINT',
      `The poll was answered with an unknown action, ${JSON.stringify(action)?.slice(0, 60)}.`,
    )
  const note = isRecord(meta) ? own(meta, metaKey.note) : null
  return {
    action,
    content: action === 'accept' && isRecord(content) ? content : null,
    note: typeof note === 'string' ? note : null,
  }
}
