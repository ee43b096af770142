import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Refusal } from '../base/refusal.ts'
import type { Actor } from '../events/event.ts'
import { underLock } from '../session/under-lock.ts'
import type { Desk, Elicitation } from './elicitation.ts'

/** What the creation hands out, and a withdrawal on the plain address shows again. Derived, so that a re-post gets the same one. */
export function withdrawToken({ secret }: Pick<Desk, 'secret'>, elicitationId: string): string {
  return createHmac('sha256', secret).update(`withdraw:${elicitationId}`).digest('base64url')
}

export function isWithdrawToken(desk: Pick<Desk, 'secret'>, elicitationId: string, token: string): boolean {
  const expected = Buffer.from(withdrawToken(desk, elicitationId))
  const given = Buffer.from(token)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** The requester takes its question back: `cancel`, cause `withdrawn`, if it is still pending; else nothing changes. */
export async function withdraw(
  { journal, requests }: Desk,
  request: Pick<Elicitation, 'id' | 'sessionId'>,
  actor: Actor,
): Promise<Elicitation | Refusal> {
  const result = await underLock(journal, request.sessionId, async (session) => {
    if (!session.pending.some(({ id }) => id === request.id)) return null
    session.resolve(request.id, { status: 'cancel', cause: 'withdrawn', actor, surface: null })
    session.keepInStep(actor)
    return null
  })
  return result ?? (await requests.byId(request.id))!
}
