import type { Identity } from '../auth/identity.ts'
import type { Desk } from '../elicitation/elicitation.ts'
import type { Presence } from '../elicitation/presence.ts'

/** What the tools that read and answer work on: the domain, on behalf of whoever holds the key. */
export interface DeskContext {
  desk: Desk
  presence: Presence
  identity: Identity
  /** Where the call comes from. */
  address: string
}
