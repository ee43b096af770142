import { hostname } from 'node:os'
import { isUuid } from '../base/ids.ts'
import type { ProbeResult } from '../gate/probe.ts'
import type { Runtime } from '../runner/runtime.ts'
import { type Api, succeeded } from './api.ts'
import {
  type LaunchedSession,
  type PreparedLaunch,
  type PrepareLaunchData,
  prepareLaunchDocument,
  type SessionData,
  sessionDocument,
} from './documents.ts'
import { Problem, Refused } from './problem.ts'
import type { SessionDotenv } from './session-dotenv.ts'

/** A session by its id or its slug. */
export async function findSession(api: Api, reference: string): Promise<LaunchedSession> {
  const by = isUuid(reference) ? { id: reference } : { slug: reference }
  const { session } = await api.request<SessionData>(sessionDocument, by)
  if (session) return session
  throw new Problem(
    `There is no session ${JSON.stringify(reference)} at ${api.connection.url}. Give its id or its slug.`,
  )
}

export interface LaunchInput {
  sessionId: string
  /** The session's own when null. */
  runtime: Runtime | null
  mcpConfig: { format: 'json' | 'toml'; text: string } | null
  dotenv: SessionDotenv
  withAgentKey?: boolean
  /** What the gate looks like from this host. */
  seen?: ProbeResult
  /** Makes nothing: shows what would be written. */
  dryRun?: boolean
}

/** Has the server prepare a launch. A config that it will not take costs the config, with a warning, and not the launch. */
export async function prepareLaunch(api: Api, input: LaunchInput): Promise<PreparedLaunch> {
  const { sessionId, runtime, mcpConfig, dotenv, withAgentKey = false, seen, dryRun = false } = input
  try {
    const { prepareLaunch } = await api.request<PrepareLaunchData>(prepareLaunchDocument, {
      input: {
        sessionId,
        runtime: runtime?.toUpperCase() ?? null,
        mcpConfig: mcpConfig && { format: mcpConfig.format.toUpperCase(), text: mcpConfig.text },
        dotenv: dotenv.text,
        withAgentKey,
        seen: seen && { host: hostname(), url: seen.url, reachable: seen.reachable, detail: seen.detail },
        dryRun,
      },
    })
    const prepared = succeeded<PreparedLaunch>(prepareLaunch)
    return { ...prepared, warnings: [...dotenv.warnings, ...prepared.warnings] }
  } catch (error) {
    if (!(error instanceof Refused) || mcpConfig === null) throw error
    const prepared = await prepareLaunch(api, { ...input, mcpConfig: null })
    return {
      ...prepared,
      warnings: [
        ...prepared.warnings,
        `The MCP config was left as it is, so its servers do not know this session's gate: ${error.message}`,
      ],
    }
  }
}
