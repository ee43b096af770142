import type { Authenticator } from '../auth/authenticator.ts'
import type { Log } from '../base/log.ts'
import type { Refusal } from '../base/refusal.ts'
import type { Runtime } from '../database/generated/prisma/enums.ts'
import type { Desk } from '../elicitation/elicitation.ts'
import type { Presence } from '../elicitation/presence.ts'
import type { Actor } from '../events/event.ts'
import type { Fanout } from '../events/fanout.ts'
import type { Journal } from '../events/journal.ts'

/** What the GraphQL surface needs of the house; `app.ts` puts it together. */
export interface GraphqlServices {
  journal: Journal
  fanout: Fanout
  /** The cursor up to which this process has handed events out. */
  position: () => bigint
  desk: Desk
  presence: Presence
  authenticator: Authenticator
  gate: Gate
  launch: Launch
  log: Log
  config: {
    publicUrl: string
    /** Serves GraphiQL. */
    development: boolean
  }
}

export type GateAccess = 'open' | 'mixed' | 'capability'

export interface GateStatus {
  /** The collection URL that agents are told. */
  url: string
  access: GateAccess
  /** Null: never probed, or too long ago. */
  reachable: boolean | null
  detail: string | null
  checkedAt: Date | null
  /** The incident that is open, or else the latest one. */
  incident: { openedAt: Date; closedAt: Date | null; detail: string; pagedAt: Date | null } | null
  /** What runners reported, one per host. */
  hosts: { host: string; reachable: boolean | null; detail: string | null; checkedAt: Date }[]
}

/** A probe that a runner made from the host that its agent runs on. */
export interface GateReport {
  host: string
  url: string
  reachable: boolean
  detail: string | null
}

export interface Gate {
  status(): Promise<GateStatus>
  /** Probes now and records what came of it. */
  probe(): Promise<GateStatus>
  /** Takes a runner's report, for its session; writes `gate.reported` when it says something new. */
  report(sessionId: string, report: GateReport, actor: Actor): Promise<void>
  /** Ends the session's capability addresses and makes a new one. */
  rotateToken(sessionId: string, actor: Actor): Promise<{ url: string; createdAt: Date } | Refusal>
}

export interface LaunchRequest {
  sessionId: string
  /** The session's own when absent. */
  runtime: Runtime | null
  mcpConfig: { format: 'json' | 'toml'; text: string } | null
  /** The text of the session's `.env`. */
  dotenv: string | null
  withAgentKey: boolean
}

export interface PreparedLaunch {
  env: { name: string; value: string }[]
  mcpConfig: string | null
  systemPrompt: string | null
  warnings: string[]
  agentKey: string | null
}

export interface Launch {
  prepare(request: LaunchRequest, actor: Actor): Promise<PreparedLaunch | Refusal>
}
