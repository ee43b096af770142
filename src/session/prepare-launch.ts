import { insertKey } from '../auth/keys.ts'
import { mcpServersPerLaunchMax } from '../base/limits.ts'
import { redact } from '../base/redact.ts'
import { InvalidTransitionError, isRefusal, type Refusal, unknownSession } from '../base/refusal.ts'
import { makeVisible, truncate } from '../base/text.ts'
import type { Session } from '../database/generated/prisma/client.ts'
import type { Runtime, SessionStatus } from '../database/generated/prisma/enums.ts'
import { sql } from '../database/sql.ts'
import type { Actor } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import { collectionUrl, type GateAccess } from '../gate/address.ts'
import { parseDotenv } from '../gate/dotenv.ts'
import type { Environment } from '../gate/environment.ts'
import { type GateReport, readReport, recordReport } from '../gate/host-report.ts'
import {
  type RewrittenConfig,
  type RewrittenServer,
  rewriteRuntimeConfig,
} from '../gate/runtime-config/rewrite.ts'
import { dotenvOverrides, dotenvWarnings, spawnEnvironment } from '../gate/spawn-environment.ts'
import { knowledgeOf } from '../gate/status.ts'
import { type GateKnowledge, systemPrompt } from '../gate/system-prompt.ts'
import { mintGateToken } from '../gate/token.ts'
import { underLock } from './under-lock.ts'

export interface LaunchRequest {
  sessionId: string
  /** The session's own when null. */
  runtime: Runtime | null
  mcpConfig: { format: 'json' | 'toml'; text: string } | null
  /** The text of the session's `.env`. */
  dotenv: string | null
  withAgentKey: boolean
  /** What the gate looked like just now from the host that the agent will run on; null when nobody looked. */
  seen: GateReport | null
  /** Makes and records nothing: no address, no key, no event. What would be made is shown as `notMadeYet`. */
  dryRun: boolean
}

export interface PreparedLaunch {
  /** The spawn environment, in the order in which it is shown. */
  env: { name: string; value: string }[]
  /** Null when none was given; what cannot be read or edited comes back as it was, with a warning. */
  mcpConfig: string | null
  /** Null when there is nothing to say. */
  systemPrompt: string | null
  warnings: string[]
  /** A viewer key bound to the session, when it was asked for. */
  agentKey: string | null
}

export interface Launch {
  prepare(request: LaunchRequest, actor: Actor): Promise<PreparedLaunch | Refusal>
}

export interface LaunchServices {
  journal: Journal
  gate: { knowledgeFor(sessionId: string): Promise<GateKnowledge> }
  publicUrl: string
  gateAccess: GateAccess
  defaultExpirationMs: number
}

/** The addresses of one launch: the session's own, and those that were written for one server. */
interface Addresses {
  session: string
  servers: ReadonlyMap<string, string>
}

/** What a launch rests on, once it is on the record. */
interface Ground {
  runtime: Runtime
  addresses: Addresses
  stdioCount: number
  agentKey: string | null
}

/** Stands where an address will have its token. */
const notMadeYet = 'made-when-written'

const nameCharactersMax = 200
const addressCharactersMax = 300

/**
 * All that an agent has to be started with. The addresses, the key and the `launch.prepared` event are one commit, so
 * that no address exists that the timeline does not know of; the rewriting itself is done outside it, as it can take as
 * long as the config is large.
 */
export function createLaunch(services: LaunchServices): Launch {
  const { journal, gate, publicUrl, gateAccess, defaultExpirationMs } = services
  const plain = collectionUrl(publicUrl)

  function environmentAt(url: string, sessionId: string, dotenv: Readonly<Environment>): Environment {
    return spawnEnvironment({ collectionUrl: url, expirationMs: defaultExpirationMs, sessionId, dotenv })
  }

  function rewrite(
    { sessionId, mcpConfig }: LaunchRequest,
    runtime: Runtime,
    dotenv: Readonly<Environment>,
    { session, servers }: Addresses,
  ): RewrittenConfig | null {
    if (mcpConfig === null) return null
    return rewriteRuntimeConfig({
      runtime,
      format: mcpConfig.format === 'json' ? 'JSON' : 'TOML',
      text: mcpConfig.text,
      environmentFor: (name) => environmentAt(servers.get(name) ?? session, sessionId, dotenv),
      dotenv,
      ttlMs: defaultExpirationMs,
    })
  }

  async function addressesFor(
    serverNames: readonly string[],
    mint: (serverName: string | null) => Promise<string>,
  ): Promise<Addresses> {
    if (gateAccess === 'open') return { session: plain, servers: new Map() }
    const addressOf = async (serverName: string | null) => collectionUrl(publicUrl, await mint(serverName))
    const servers = new Map<string, string>()
    for (const name of serverNames)
      servers.set(name, await addressOf(makeVisible(truncate(name, nameCharactersMax))))
    return { session: await addressOf(null), servers }
  }

  /** Which servers there are is known only after a first pass; what it writes is thrown away. */
  function serversIn(
    request: LaunchRequest,
    runtime: Runtime,
    dotenv: Readonly<Environment>,
  ): { servers: RewrittenServer[]; stdio: string[] } {
    const found = rewrite(request, runtime, dotenv, { session: plain, servers: new Map() })
    const servers = found?.servers ?? []
    return { servers, stdio: servers.flatMap(({ kind, name }) => (kind === 'stdio' ? [name] : [])) }
  }

  /** On the record: the addresses, the key, what was seen of the gate, and that it was prepared. */
  function lay(
    request: LaunchRequest,
    dotenv: Readonly<Environment>,
    actor: Actor,
  ): Promise<Ground | Refusal> {
    const { sessionId, withAgentKey, seen } = request
    const overridden = dotenvOverrides(dotenv)
    return underLock(journal, sessionId, async (session, entry) => {
      const { status, slug } = session.row
      if (status === 'archived') return archived(status)
      const runtime = request.runtime ?? session.row.runtime
      const { servers, stdio } = serversIn(request, runtime, dotenv)
      const at = journal.now()
      const addresses = await addressesFor(stdio.slice(0, mcpServersPerLaunchMax), (serverName) =>
        mintGateToken(entry, { sessionId, serverName }, actor, at),
      )
      const key = withAgentKey
        ? await insertKey(entry, { name: `agent of ${slug}`, role: 'viewer', sessionId }, actor, at)
        : null
      if (seen) await recordReport(entry, sessionId, readReport(seen, at), { ...actor, kind: 'runner' })
      session.note('launch.prepared', actor, {
        runtime,
        servers: servers.slice(0, mcpServersPerLaunchMax).map(({ name, kind }) => ({
          name: makeVisible(truncate(name, nameCharactersMax)),
          kind,
        })),
        overridden,
        detail: overrideText(overridden, dotenv),
      })
      return { runtime, addresses, stdioCount: stdio.length, agentKey: key?.secret ?? null }
    })
  }

  /** Off the record. */
  async function rehearse(request: LaunchRequest, dotenv: Readonly<Environment>): Promise<Ground | Refusal> {
    const [session] = await journal.database.query<Pick<Session, 'status' | 'runtime'>>(
      sql`select status, runtime from session where id = ${request.sessionId}`,
    )
    if (!session) return unknownSession()
    if (session.status === 'archived') return archived(session.status)
    const runtime = request.runtime ?? session.runtime
    const { stdio } = serversIn(request, runtime, dotenv)
    const addresses = await addressesFor(stdio.slice(0, mcpServersPerLaunchMax), async () => notMadeYet)
    return { runtime, addresses, stdioCount: stdio.length, agentKey: null }
  }

  return {
    async prepare(request, actor) {
      const { sessionId, mcpConfig, seen } = request
      const dotenv = parseDotenv(request.dotenv ?? '')
      const knowledge = seen
        ? knowledgeOf(readReport(seen, journal.now()))
        : await gate.knowledgeFor(sessionId)
      const ground = request.dryRun
        ? await rehearse(request, dotenv.variables)
        : await lay(request, dotenv.variables, actor)
      if (isRefusal(ground)) return ground

      const { runtime, addresses, stdioCount, agentKey } = ground
      const config = rewrite(request, runtime, dotenv.variables, addresses)
      const env = environmentAt(addresses.session, sessionId, dotenv.variables)
      const warnings = [
        ...dotenv.warnings,
        ...dotenvWarnings(dotenv.variables),
        ...(config?.warnings ?? []),
        ...(gateAccess !== 'open' && stdioCount > mcpServersPerLaunchMax
          ? [
              `The MCP config has ${stdioCount} servers: those beyond the first ${mcpServersPerLaunchMax} share the session's own address, so it will not be known which of them asks.`,
            ]
          : []),
      ]
      return {
        env: Object.entries(env).map(([name, value]) => ({ name, value })),
        mcpConfig: config?.text ?? mcpConfig?.text ?? null,
        // A config that could not be read may well have servers.
        systemPrompt: systemPrompt({
          gate: knowledge,
          hasMcpServers: config !== null && (config.servers.length > 0 || config.warnings.length > 0),
        }),
        warnings,
        agentKey,
      }
    },
  }
}

function archived(status: SessionStatus): InvalidTransitionError {
  return new InvalidTransitionError(
    status,
    'prepare_launch',
    'The session is archived and takes no requests. Unarchive it, or create another one.',
  )
}

/** For the session page and the timeline: an address that is not ours. The token or password in it is nobody's business. */
function overrideText(overridden: readonly string[], dotenv: Readonly<Environment>): string | null {
  if (overridden.length === 0) return null
  const url = overridden.includes('ELICITATION_REQUEST_URL') ? dotenv.ELICITATION_REQUEST_URL : undefined
  const address =
    url === undefined ? '' : `; requests go to ${makeVisible(redact(truncate(url, addressCharactersMax)))}`
  return `The session's .env sets ${overridden.join(', ')}${address}`
}
