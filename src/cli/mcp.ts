import { findGateAddress, noGateAddress } from '../bridge/gate-address.ts'
import { createGateClient } from '../bridge/gate-client.ts'
import { createRemoteDesk } from '../mcp/remote-desk.ts'
import { serveStdio } from '../mcp/stdio.ts'
import { findConnection } from './connection.ts'
import { exitCodes, Problem } from './problem.ts'
import { onStop } from './stopping.ts'
import type { Terminal } from './terminal.ts'

/** The MCP server on stdio. It starts whatever is missing: a tool that cannot work says what it needs. */
export async function mcp({ environment, note }: Terminal): Promise<number> {
  const log = (message: string) => note(`holdpoint mcp: ${message}`)
  const address = findGateAddress(environment)
  const desk = await findConnection(environment).then(createRemoteDesk, (error: unknown) => {
    if (error instanceof Problem) return error.message
    throw error
  })
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
