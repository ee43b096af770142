import type { Authenticator } from '../auth/authenticator.ts'
import type { Log } from '../base/log.ts'
import type { Desk } from '../elicitation/elicitation.ts'
import type { Presence } from '../elicitation/presence.ts'
import type { Fanout } from '../events/fanout.ts'
import type { Journal } from '../events/journal.ts'
import type { TimelineVersion } from '../events/version.ts'
import type { Gate } from '../gate/status.ts'
import type { Launch } from '../session/prepare-launch.ts'

/** What the GraphQL surface needs of the house; `app.ts` puts it together. */
export interface GraphqlServices {
  journal: Journal
  fanout: Fanout
  /** The cursor up to which this process has handed events out. */
  position: () => bigint
  timelineVersion: TimelineVersion
  desk: Desk
  presence: Presence
  authenticator: Authenticator
  gate: Pick<Gate, 'status' | 'probe' | 'report' | 'rotateToken'>
  launch: Launch
  log: Log
  config: {
    publicUrl: string
    /** Whose word is taken for the address of a caller, as Fastify takes it. */
    trustProxy: boolean | string[]
    /** Serves GraphiQL. */
    development: boolean
  }
}
