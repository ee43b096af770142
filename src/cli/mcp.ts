import { findGateAddress, noGateAddress } from '../bridge/gate-address.ts'
import { createGateClient } from '../bridge/gate-client.ts'
import { createRemoteDesk, type RemoteDesk } from '../mcp/remote-desk.ts'
import { serveStdio } from '../mcp/stdio.ts'
import { findConnection, type Variables } from './connection.ts'
import { exitCodes, Problem } from './problem.ts'
import { onStop } from './stopping.ts'
import type { Terminal } from './terminal.ts'

/** The MCP server on stdio. It starts whatever is missing: a tool that cannot work says what it needs. */
export async function mcp({ environment, note }: Terminal): Promise<number> {
  const log = (message: string) => note(`holdpoint mcp: ${message}`)
  const address = findGateAddress(environment)
  const own = environment.HOLDPOINT_API_KEY?.trim()
  // An agent must not see the requests of other sessions because a launcher key lies about on its machine.
  const desk = address && !own ? noKey : await deskOf(environment)
  const failure = ({ err, tool }: { err: unknown; tool: string }, message: string) =>
    log(`${message} (${tool}): ${err}`)
  await serveStdio({
    asker: address ? createGateClient(address, { log }) : noGateAddress,
    desk,
    stdin: process.stdin,
    stdout: process.stdout,
    log: { error: failure, warn: failure },
    stopped: onStop(),
  })
  process.stdin.destroy()
  return exitCodes.done
}

const noKey =
  'This needs HOLDPOINT_API_KEY: a key that is bound to the session to look at it (holdpoint run --with-agent-key hands one out), or a key of your own to answer.'

async function deskOf(environment: Variables): Promise<RemoteDesk | string> {
  try {
    return createRemoteDesk(await findConnection(environment))
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}
