import { constants, hostname } from 'node:os'
import { errorText } from '../base/error-text.ts'
import { redact } from '../base/redact.ts'
import { truncate } from '../base/text.ts'
import { childEnvironment } from '../gate/child-environment.ts'
import { isBlank } from '../gate/dotenv.ts'
import { type Environment, environmentOf } from '../gate/environment.ts'
import { type ProbeResult, probe } from '../gate/probe.ts'
import { clientTtlMs } from '../gate/spawn-environment.ts'
import { systemPrompt } from '../gate/system-prompt.ts'
import { type Ending, spawnAgent } from '../runner/agent-process.ts'
import type { Equipped } from '../runner/launch-plan.ts'
import { configWord } from '../runner/other-runtime.ts'
import { createPrivateFolder, type PrivateFolder } from '../runner/private-folder.ts'
import { planLaunch, type Runtime, runtimeOf } from '../runner/runtime.ts'
import { type SessionEvent, supervise } from '../runner/supervise.ts'
import { type Api, createApi } from './api.ts'
import { bridgedConfig } from './bridged-config.ts'
import { findConnection } from './connection.ts'
import {
  type EventCursorData,
  eventCursorDocument,
  type LaunchedSession,
  type LaunchSiteData,
  launchSiteDocument,
} from './documents.ts'
import { prepareLaunch } from './launch.ts'
import { createNotices, type Notices } from './notices.ts'
import { ownProgram } from './own-program.ts'
import { exitCodes, Problem } from './problem.ts'
import { fail, type RunSession, resume, sessionFor } from './run-session.ts'
import { createRunnerLink } from './runner-link.ts'
import { readDotenv, type SessionDotenv } from './session-dotenv.ts'
import type { Terminal } from './terminal.ts'

export interface RunOptions extends RunSession {
  /** Guessed from the command when absent. */
  runtime?: Runtime
  mcpConfig?: string
  /** Puts the bridge before each of its stdio MCP servers. */
  bridge?: boolean
  /** Lets a person decide on what Claude Code asks permission for. */
  approveTools?: boolean
  /** Gives the agent a key of its own: it sees its session, and answers nothing. */
  withAgentKey?: boolean
}

const commandCharactersMax = 500

/** Runs an agent under Holdpoint, from the session to the report of its end. @returns the exit code of the command */
export async function run(options: RunOptions, command: string[], terminal: Terminal): Promise<number> {
  if (command.length === 0)
    throw new Problem('Say what to run, behind "--": holdpoint run -- claude -p "…"', exitCodes.usage)
  const { cwd } = terminal
  const api = createApi(await findConnection(terminal.environment))
  const notices = createNotices(terminal)
  const runtime = options.runtime ?? runtimeOf(command)
  if (options.approveTools && runtime !== 'claude_code')
    throw new Problem(
      '--approve-tools is for Claude Code: no other runtime is known to ask a tool for permission. Leave it out, or say --runtime claude-code.',
      exitCodes.usage,
    )
  const wantsConfig = options.bridge || command.some((word) => word.includes(configWord))
  if (runtime === 'other' && wantsConfig && options.mcpConfig === undefined)
    throw new Problem(
      `--bridge and ${configWord} need --mcp-config FILE: it is not known where this runtime keeps its config. For Claude Code or Codex under another name say --runtime.`,
      exitCodes.usage,
    )
  const dotenv = await readDotenv(cwd)

  const { gate } = await api.request<LaunchSiteData>(launchSiteDocument)
  const [seen, elsewhere] = await Promise.all([probe(gate.url), probeOverride(dotenv, gate.url)])
  const session = await sessionFor(api, options, { command, runtime, cwd })
  notices.say(`session ${session.slug} at ${api.connection.url}/sessions/${session.id}`)
  if (api.connection.key === 'launcher')
    notices.say(
      'the agent runs as a user who can read the files of the Holdpoint server: nothing keeps it from what it could do there (SECURITY.md)',
    )

  for (const each of [seen, elsewhere]) if (each && !each.reachable) notices.say(brokenGate(each))

  await using folder = await createPrivateFolder(environmentOf(terminal.environment))
  const { equipped, environment } = await equip({
    api,
    session,
    runtime,
    dotenv,
    folder,
    seen,
    elsewhere,
    options,
    command,
    terminal,
    notices,
  }).catch(async (error: unknown) => {
    if (session.status === 'RUNNING')
      await fail(api, session.id, `The agent was not started: ${errorText(error)}`)
    throw error
  })
  const { eventCursor } = await api.request<EventCursorData>(eventCursorDocument)
  if (session.status !== 'RUNNING') await resume(api, session.id)
  const spawned = await spawnAgent(equipped.command, { cwd, environment })
  if (!spawned.ok) {
    const reason = `The command could not be started: ${spawned.reason}.`
    await fail(api, session.id, reason)
    throw new Problem(reason, spawned.exitCode)
  }
  notices.hold()
  const outcome = await supervise(spawned.process, {
    link: createRunnerLink(api, { sessionId: session.id, command: shown(command), after: eventCursor }),
    gate: seen,
    probe: () => probe(gate.url),
    notice: notices.say,
    onEnded: notices.release,
  })
  for (const notice of await finish(equipped)) notices.say(notice)
  if (outcome.endedBy !== null) notices.say(endedText(outcome.endedBy))
  return exitCodeOf(outcome)
}

async function equip(context: {
  api: Api
  session: LaunchedSession
  runtime: Runtime
  dotenv: SessionDotenv
  folder: PrivateFolder
  /** The gate of the server, from here. */
  seen: ProbeResult
  /** The gate that the `.env` names instead. */
  elsewhere: ProbeResult | null
  options: RunOptions
  command: string[]
  terminal: Terminal
  notices: Notices
}): Promise<{ equipped: Equipped; environment: Environment }> {
  const { api, session, runtime, dotenv, folder, seen, elsewhere, options, command, terminal, notices } =
    context
  const parent = terminal.environment
  const plan = await planLaunch(runtime, {
    command,
    cwd: terminal.cwd,
    environment: childEnvironment(parent, { dotenv: dotenv.variables, spawn: {} }),
    mcpConfigFile: options.mcpConfig ?? null,
    approveTools: options.approveTools === true,
    holdpoint: ownProgram,
  })
  const withAgentKey = options.withAgentKey || options.approveTools
  const input = { sessionId: session.id, runtime, mcpConfig: plan.mcpConfig, dotenv, withAgentKey, seen }
  const prepared = await prepareLaunch(api, input)
  const spawn = environmentOf(Object.fromEntries(prepared.env.map(({ name, value }) => [name, value])))
  const broken = elsewhere !== null && !elsewhere.reachable
  // One that the server would not take is used as it is: the servers in it must not get lost.
  const config = prepared.mcpConfig ?? plan.mcpConfig?.text ?? null
  const bridged =
    options.bridge && plan.mcpConfig && config !== null
      ? bridgedConfig(config, { runtime, format: plan.mcpConfig.format })
      : null
  const agentVariables = prepared.agentKey
    ? { HOLDPOINT_URL: api.connection.url, HOLDPOINT_API_KEY: prepared.agentKey }
    : null
  const equipped = await plan.equip(
    {
      mcpConfig: bridged?.text ?? config,
      // The server does not know the gate that a `.env` names.
      systemPrompt: broken ? brokenPrompt(elsewhere) : prepared.systemPrompt,
      ttlMs: clientTtlMs(spawn.ELICITATION_TTL_MS),
      agentVariables,
    },
    folder,
  )
  for (const notice of [
    ...plan.notices,
    ...prepared.warnings,
    ...(bridged?.warnings ?? []),
    ...equipped.notices,
  ])
    notices.say(notice)
  if ((dotenv.variables.ELICITATION_ENABLED ?? parent.ELICITATION_ENABLED)?.toLowerCase() === 'false')
    notices.say(
      'ELICITATION_ENABLED is false: MCP servers that are given it act WITHOUT asking anybody. Take it out of the environment or the .env unless that is what you want.',
    )
  const keep = options.withAgentKey ? (agentVariables ?? undefined) : undefined
  const environment = childEnvironment(parent, { dotenv: dotenv.variables, spawn, keep })
  return { equipped, environment: Object.assign(environment, equipped.environment) }
}

async function finish({ finish }: Equipped): Promise<string[]> {
  try {
    return (await finish?.()) ?? []
  } catch (error) {
    // The agent has ended as it has; this changes nothing about it.
    return [`What it left for you could not be put in its place: ${errorText(error)}`]
  }
}

/** The gate that the `.env` names in the place of ours, looked at from here. */
async function probeOverride({ variables }: SessionDotenv, gateUrl: string): Promise<ProbeResult | null> {
  const url = variables.ELICITATION_REQUEST_URL
  return url === undefined || isBlank(url) || url === gateUrl ? null : probe(url)
}

function brokenGate({ url, detail }: ProbeResult): string {
  return (
    `THE APPROVAL GATE IS BROKEN: ${redact(url)} cannot be reached from this machine (${detail}). Whatever the agent asks for will ` +
    'come out as "not approved", and nobody is asked. Check PUBLIC_URL of the server and the network between here and there.'
  )
}

function brokenPrompt({ url, detail, checkedAt }: ProbeResult): string | null {
  const gate = { status: 'unreachable', url: redact(url), detail, checkedAt, host: hostname() } as const
  return systemPrompt({ gate, hasMcpServers: true })
}

function endedText({ type, actor, data }: SessionEvent): string {
  const what = type.replace('session.', '')
  const reason = typeof data.reason === 'string' ? `: ${data.reason}` : ''
  return `the session was ${what} by ${actor.name ?? actor.kind}${reason}; the agent was ended`
}

/** For the page: what was run, without what must not be read there. */
function shown(command: readonly string[]): string {
  return truncate(redact(command.join(' ')), commandCharactersMax)
}

function exitCodeOf({ exitCode, signal }: Ending): number {
  return exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal])
}
