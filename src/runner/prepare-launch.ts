import { insertKey } from '../auth/keys.ts'
import { mcpServersPerLaunchMax } from '../base/limits.ts'
import { redact } from '../base/redact.ts'
import { InvalidTransitionError, isRefusal, type Refusal } from '../base/refusal.ts'
import { makeVisible, truncate } from '../base/text.ts'
import type { Runtime } from '../database/generated/prisma/enums.ts'
import type { Actor } from '../events/event.ts'
import type { Journal, JournalEntry } from '../events/journal.ts'
import { collectionUrl } from '../gate/address.ts'
import { parseDotenv } from '../gate/dotenv.ts'
import type { Environment } from '../gate/environment.ts'
import { type RewrittenConfig, rewriteRuntimeConfig } from '../gate/runtime-config/rewrite.ts'
import { dotenvOverrides, dotenvWarnings, spawnEnvironment } from '../gate/spawn-environment.ts'
import { type GateKnowledge, systemPrompt } from '../gate/system-prompt.ts'
import { mintGateToken } from '../gate/token.ts'
import { underLock } from '../session/under-lock.ts'

export interface LaunchRequest {
  sessionId: string
  /** The session's own when null. */
  runtime: Runtime | null
  mcpConfig: { format: 'json' | 'toml'; text: string } | null
  /** The text of the session's `.env`. */
  dotenv: string | null
  withAgentKey: boolean
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
  gateAccess: 'open' | 'mixed' | 'capability'
  defaultExpirationMs: number
}

/** The addresses of one launch: the session's own, and those that were written for one server. */
interface Addresses {
  session: string
  servers: ReadonlyMap<string, string>
}

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
    entry: JournalEntry,
    sessionId: string,
    serverNames: readonly string[],
    actor: Actor,
  ): Promise<Addresses> {
    if (gateAccess === 'open') return { session: plain, servers: new Map() }
    const mint = async (serverName: string | null) =>
      collectionUrl(publicUrl, await mintGateToken(entry, { sessionId, serverName }, actor, journal.now()))
    const servers = new Map<string, string>()
    for (const name of serverNames)
      servers.set(name, await mint(makeVisible(truncate(name, nameCharactersMax))))
    return { session: await mint(null), servers }
  }

  return {
    async prepare(request, actor) {
      const { sessionId, mcpConfig, withAgentKey } = request
      const dotenv = parseDotenv(request.dotenv ?? '')
      const overridden = dotenvOverrides(dotenv.variables)
      const knowledge = await gate.knowledgeFor(sessionId)

      const committed = await underLock(journal, sessionId, async (session, entry) => {
        const { status, slug } = session.row
        if (status === 'archived')
          return new InvalidTransitionError(
            status,
            'prepare_launch',
            'The session is archived and takes no requests. Unarchive it, or create another one.',
          )
        const runtime = request.runtime ?? session.row.runtime
        // Which servers there are is known only after a first pass; what it writes is thrown away.
        const found = rewrite(request, runtime, dotenv.variables, { session: plain, servers: new Map() })
        const stdio = (found?.servers ?? []).flatMap(({ kind, name }) => (kind === 'stdio' ? [name] : []))
        const addresses = await addressesFor(entry, sessionId, stdio.slice(0, mcpServersPerLaunchMax), actor)
        const key = withAgentKey
          ? await insertKey(
              entry,
              { name: `agent of ${slug}`, role: 'viewer', sessionId },
              actor,
              journal.now(),
            )
          : null
        session.note('launch.prepared', actor, {
          runtime,
          servers: (found?.servers ?? []).slice(0, mcpServersPerLaunchMax).map(({ name, kind }) => ({
            name: makeVisible(truncate(name, nameCharactersMax)),
            kind,
          })),
          overridden,
          detail: overrideText(overridden, dotenv.variables),
        })
        return { runtime, addresses, stdioCount: stdio.length, agentKey: key?.secret ?? null }
      })
      if (isRefusal(committed)) return committed

      const { runtime, addresses, stdioCount, agentKey } = committed
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

/** For the session page and the timeline: an address that is not ours. The token or password in it is nobody's business. */
function overrideText(overridden: readonly string[], dotenv: Readonly<Environment>): string | null {
  if (overridden.length === 0) return null
  const url = overridden.includes('ELICITATION_REQUEST_URL') ? dotenv.ELICITATION_REQUEST_URL : undefined
  const address =
    url === undefined ? '' : `; requests go to ${makeVisible(redact(truncate(url, addressCharactersMax)))}`
  return `The session's .env sets ${overridden.join(', ')}${address}`
}
