import type { Identity } from '../auth/identity.ts'
import type { Entrance } from '../elicitation/answer.ts'
import type { EndReason } from '../events/fanout.ts'
import type { GraphqlServices } from './services.ts'

/** What every resolver receives. */
export interface GraphqlContext {
  services: GraphqlServices
  identity: Identity
  /** How answers given in this request came in. */
  entrance: Entrance
  /** Fires when the client has left: whatever is still open for it ends. */
  clientLeft: AbortSignal
  /** Told why the server ends a subscription, where the transport can say so itself. */
  onSubscriptionEnd?: (reason: EndReason) => void
}
