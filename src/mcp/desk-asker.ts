import { createHmac, randomUUID } from 'node:crypto'
import type { RequestId } from '@modelcontextprotocol/sdk/types.js'
import { actorOf, type Identity } from '../auth/identity.ts'
import { isRefusal, type Refusal } from '../base/refusal.ts'
import { ask } from '../elicitation/ask.ts'
import type { Desk, Elicitation } from '../elicitation/elicitation.ts'
import type { Poller } from '../elicitation/poll.ts'
import { waitForAnswer } from '../elicitation/wait.ts'
import { withdraw } from '../elicitation/withdraw.ts'
import { AskError, type Asker, type Outcome } from './asker.ts'

export interface DeskAskerOptions {
  desk: Desk
  poller: Poller
  identity: Identity
  isDraining: () => boolean
  /** Counts one more question of this key; says so when that is one too many. */
  countCreation: () => Promise<Refusal | null>
  /** Told why a question was not put. */
  onRefused: (refusal: Refusal) => void
  /** The id that the client got at `initialize` and sends along. */
  mcpSessionId: string | null
}

/** Asks in the domain, for the session that the key is bound to. */
export function createDeskAsker(
  options: DeskAskerOptions,
): Asker & { withdrawCall(id: RequestId): Promise<void> } {
  const { desk, poller, identity, isDraining, countCreation, onRefused, mcpSessionId } = options
  const address = `key:${identity.id}`

  /** By the request id, and only what this very key asked. */
  async function findOwn(requestId: string): Promise<Elicitation | null> {
    const row = await desk.requests.byRequestId(requestId)
    return row?.callerAddress === address && row.gateTokenId === null ? row : null
  }

  /**
   * The request id follows from the call where the client can be told apart: so a cancellation, which comes as a
   * request of its own and may reach another server process, finds what it cancels.
   */
  function requestIdOf(id: RequestId): string {
    if (mcpSessionId === null) return `mcp-${randomUUID()}`
    const call = JSON.stringify(['mcp', identity.id, mcpSessionId, id])
    return `mcp-${createHmac('sha256', desk.secret).update(call).digest('base64url')}`
  }

  async function takeBack(requestId: string): Promise<void> {
    const row = await findOwn(requestId)
    if (row) await withdraw(desk, row, actorOf(identity))
  }

  function refused(refusal: Refusal): AskError {
    onRefused(refusal)
    return new AskError(refusal.code, refusal.message)
  }

  return {
    outlivesCalls: true,
    async ask({ serverName, ...question }, { id }) {
      if (identity.sessionId === null)
        throw new AskError(
          'FORBIDDEN',
          `The key ${identity.name} is not bound to a session, so there is no session to ask for. Use the key that was made for the session when it was launched, or set ELICITATION_SESSION_ID and run \`holdpoint mcp\`.`,
        )
      const limited = await countCreation()
      if (limited) throw refused(limited)
      const asked = await ask(
        desk,
        identity.sessionId,
        { requestId: requestIdOf(id), expiresAt: null, ...question },
        { gateTokenId: null, callerAddress: address, serverName },
      )
      if (isRefusal(asked)) throw refused(asked)
      return asked.elicitation.requestId
    },
    async wait(requestId, { waitMs, signal }) {
      if (!(await findOwn(requestId)))
        throw new AskError(
          'NOT_FOUND',
          'There is no such question of yours. Check the request id, or ask again with ask_person.',
        )
      const found = await waitForAnswer(poller, {
        requestId,
        address,
        waitMs,
        callerLeft: signal,
        isDraining,
      })
      return found && found.action !== 'pending'
        ? { action: found.action, content: found.content as Outcome['content'], note: found.note }
        : null
    },
    withdraw: takeBack,
    withdrawCall: (id) => (mcpSessionId === null ? Promise.resolve() : takeBack(requestIdOf(id))),
  }
}
