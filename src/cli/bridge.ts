import { runBridge } from '../bridge/bridge.ts'
import { findGateAddress, noGateAddress } from '../bridge/gate-address.ts'
import { createGateClient } from '../bridge/gate-client.ts'
import { exitCodes, Problem } from './problem.ts'
import { onStop } from './stopping.ts'
import type { Terminal } from './terminal.ts'

export interface BridgeOptions {
  /** As the runtime's config names the server. */
  server?: string
}

/** Stands before an MCP server on stdio. @returns the exit code of the server */
export async function bridge(
  { server }: BridgeOptions,
  command: string[],
  { environment, note }: Terminal,
): Promise<number> {
  const [program, ...args] = command
  if (program === undefined)
    throw new Problem(
      'Say which MCP server to start, behind "--": holdpoint bridge --server tickets -- node server.js',
      exitCodes.usage,
    )
  const log = (message: string) => note(`holdpoint bridge: ${message}`)
  const address = findGateAddress(environment)
  if (!address)
    log(`${noGateAddress} Until then the questions of this server go to the client, as without the bridge.`)
  const code = await runBridge({
    command: [program, ...args],
    // The key is for asking; a server that asks through us has no use for it.
    environment: { ...environment, HOLDPOINT_API_KEY: undefined },
    serverName: server?.trim() || null,
    gate: address ? createGateClient(address, { log }) : null,
    stdin: process.stdin,
    stdout: process.stdout,
    log,
    stopped: onStop(),
  })
  process.stdin.destroy()
  return code
}
