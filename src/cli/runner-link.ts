import { hostname } from 'node:os'
import type { RunnerLink } from '../runner/supervise.ts'
import { type Api, succeeded } from './api.ts'
import {
  type HeartbeatData,
  heartbeatDocument,
  type RegisterProcessData,
  type ReportExitData,
  registerProcessDocument,
  reportExitDocument,
  type SessionEventsData,
  sessionEventsDocument,
} from './documents.ts'
import { follow } from './follow.ts'
import { ServerAway } from './problem.ts'

/** The runner's connection to the server, over its public API. `after` is a position before the process was started. */
export function createRunnerLink(
  api: Api,
  { sessionId, command, after }: { sessionId: string; command: string; after: string },
): RunnerLink {
  let cursor = after
  return {
    async register({ pid, startedAt }) {
      const input = { sessionId, host: hostname(), pid, startedAt, command }
      succeeded((await api.request<RegisterProcessData>(registerProcessDocument, { input })).registerProcess)
    },
    async heartbeat(gate, signal) {
      const report = gate && { url: gate.url, reachable: gate.reachable, detail: gate.detail }
      const variables = { input: { sessionId, gate: report }, after: cursor }
      const { heartbeat } = await api.request<HeartbeatData>(heartbeatDocument, variables, signal)
      return succeeded(heartbeat).session.timeline.edges.map(({ node }) => node)
    },
    async reportExit(report) {
      const input = { sessionId, ...report }
      succeeded((await api.request<ReportExitData>(reportExitDocument, { input })).reportExit)
    },
    follow: (onEvent, signal) =>
      follow<SessionEventsData>(api.connection, {
        document: sessionEventsDocument,
        variables: { id: sessionId },
        after,
        cursorOf: ({ session }) => session.cursor,
        onData({ session }) {
          cursor = session.cursor
          onEvent(session.event)
        },
        signal,
      }),
    isAway: (error) => error instanceof ServerAway,
  }
}
