import type { Authenticator } from '../auth/authenticator.ts'
import type { Log } from '../base/log.ts'
import type { Desk } from '../elicitation/elicitation.ts'
import type { Poller } from '../elicitation/poll.ts'
import type { GateAccess } from '../gate/address.ts'

/** What the REST surface is given. */
export interface RestServices {
  log: Log
  desk: Desk
  poller: Poller
  authenticator: Authenticator
  publicUrl: string
  pollHoldMs: number
  gateAccess: GateAccess
  allowedHosts: string[]
  /** True from the moment the server begins to go away. */
  isDraining: () => boolean
}
