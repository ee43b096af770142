import { setTimeout as sleep } from 'node:timers/promises'
import { errorText } from '../base/error-text.ts'
import type { ProbeResult } from '../gate/probe.ts'
import type { AgentProcess, Ending } from './agent-process.ts'
import { retry } from './backoff.ts'
import { watchTerminal } from './terminal.ts'

/** What the timeline says of the session. */
export interface SessionEvent {
  type: string
  actor: { kind: string; name: string | null }
  data: Record<string, unknown>
}

export interface ExitReport extends Ending {
  pid: number
}

/** The runner's connection to the server, for one session. */
export interface RunnerLink {
  register(process: { pid: number; startedAt: Date }): Promise<void>
  /** A sign of life, with what the gate looks like from here when that was just looked at. Answers the newest events. */
  heartbeat(gate: ProbeResult | null, signal: AbortSignal): Promise<SessionEvent[]>
  reportExit(report: ExitReport): Promise<void>
  /** Hands out every event of the session, from before the process was started, until the signal. Never rejects. */
  follow(onEvent: (event: SessionEvent) => void, signal: AbortSignal): Promise<void>
  /** Whether an error only means that the server cannot be asked at present. */
  isAway(error: unknown): boolean
}

export interface Supervision {
  link: RunnerLink
  /** What the gate looked like from here just before the start. */
  gate: ProbeResult | null
  probe: () => Promise<ProbeResult | null>
  /** For the person who started it. */
  notice: (text: string) => void
  /** The agent has let go of the terminal. */
  onEnded?: () => void
  heartbeatMs?: number
  probeEveryMs?: number
  reportWithinMs?: number
}

export interface Outcome extends Ending {
  /** Set when the session was paused, failed or archived, and the agent therefore ended. */
  endedBy: SessionEvent | null
  /** False when the server was away for too long to be told. */
  reported: boolean
}

/** A server takes a process for gone after 45 s without one. */
const heartbeatDefaultMs = 15_000
/** A report older than 30 minutes says nothing any more. */
const probeEveryDefaultMs = 5 * 60_000
/** A restart takes seconds, a move of the server minutes. Beyond that the server finds out by itself that nothing beats. */
const reportWithinDefaultMs = 5 * 60_000
/** An agent that goes within this long after Ctrl-C went because of it, whatever code it gives. */
const interruptMs = 10_000

/**
 * Watches over an agent from its start to its end: registers it, gives signs of life, ends its process group when the session is
 * paused, failed or archived from anywhere, and reports how it ended. A block is nothing to it: the agent waits, and lives.
 * That the server is away ends nothing; what had to be told is told when it is back.
 */
export async function supervise(agent: AgentProcess, supervision: Supervision): Promise<Outcome> {
  const { link, probe, notice } = supervision
  const { heartbeatMs = heartbeatDefaultMs, probeEveryMs = probeEveryDefaultMs } = supervision
  const over = new AbortController()
  let registering: Promise<void> | null = null
  let endedBy: SessionEvent | null = null

  /** Once, however many ask: one that arrived behind the report of the end would bring the process back to life. */
  function register(): Promise<void> {
    registering ??= link.register({ pid: agent.pid, startedAt: agent.startedAt }).catch((error) => {
      registering = null
      throw error
    })
    return registering
  }

  function onEvent(event: SessionEvent): void {
    if (event.data.endsProcess !== true || over.signal.aborted) return
    endedBy ??= event
    void agent.end()
  }

  async function beat(): Promise<void> {
    let { gate } = supervision
    let probedAt = performance.now()
    let silenced = false
    while (!over.signal.aborted) {
      try {
        await register()
        const events = await link.heartbeat(gate, over.signal)
        gate = null
        silenced = false
        for (const event of events) onEvent(event)
      } catch (error) {
        // Nobody is told of a server that is away: the agent has the screen, and the next beat may find it.
        if (!link.isAway(error) && !silenced && !over.signal.aborted)
          notice(`A sign of life was refused: ${errorText(error)}`)
        silenced = true
      }
      await sleep(heartbeatMs, undefined, { signal: over.signal }).catch(() => undefined)
      if (over.signal.aborted || performance.now() - probedAt < probeEveryMs) continue
      probedAt = performance.now()
      gate = await probe()
    }
  }

  async function report(ending: Ending, signal: AbortSignal): Promise<void> {
    let told = false
    await retry(
      async () => {
        // A report on a process that the server has never heard of would be taken for one of the past.
        await register()
        await link.reportExit({ pid: agent.pid, ...ending })
      },
      {
        signal,
        isWorthwhile: link.isAway,
        onFailure(error) {
          if (!told)
            notice(`${errorText(error)} Trying again, to report how the agent ended; Ctrl-C gives up.`)
          told = true
        },
      },
    )
  }

  const terminal = watchTerminal(agent)
  const following = link.follow(onEvent, over.signal)
  const beating = beat()
  const ending = await agent.ended
  over.abort()
  using patience = patienceFor(supervision.reportWithinMs ?? reportWithinDefaultMs)
  terminal[Symbol.dispose]()
  supervision.onEnded?.()
  // An MCP server that outlives its agent would go on asking people for nobody.
  const groupGone = agent.end()

  const { interruptedAt } = terminal
  const interrupted = interruptedAt !== null && Date.now() - interruptedAt.getTime() < interruptMs
  const told: Ending = interrupted && ending.exitCode !== 0 ? { ...ending, signal: 'SIGINT' } : ending
  const reported = await report(told, patience.signal).then(
    () => true,
    (error: unknown) => {
      notice(
        `How the agent ended could not be reported: ${errorText(error)} The session shows a process that is not heard of any more; pause or archive it.`,
      )
      return false
    },
  )
  await Promise.all([following, beating, groupGone])
  return { ...ending, endedBy, reported }
}

/** A signal that fires when the time is up, or when somebody presses Ctrl-C or ends this process. */
function patienceFor(ms: number): { signal: AbortSignal } & Disposable {
  const enough = new AbortController()
  const giveUp = () => enough.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.on(name, giveUp)
  const timer = setTimeout(giveUp, ms)
  return {
    signal: enough.signal,
    [Symbol.dispose]() {
      clearTimeout(timer)
      for (const name of signals) process.off(name, giveUp)
    },
  }
}
