import type { Readable, Writable } from 'node:stream'
import { bridgeLineBytesMax } from '../base/limits.ts'
import { atMost } from './at-most.ts'
import { startChild } from './child.ts'
import type { GateClient } from './gate-client.ts'
import { LineTooLong, type LineWriter, linesOf, lineWriter } from './lines.ts'
import { createRelay, type Relay } from './relay.ts'

export interface BridgeOptions {
  command: readonly [string, ...string[]]
  /** The environment of the server. */
  environment: NodeJS.ProcessEnv
  /** As the launch named the server; null to take the server's own word for it. */
  serverName: string | null
  /** Null where it is not known whom to ask: everything is then passed on as it is. */
  gate: Pick<GateClient, 'hold'> | null
  stdin: Readable
  stdout: Writable
  log(message: string): void
  /** Fires when this process is to end, with the name of the signal as its reason. */
  stopped: AbortSignal
  progressMs?: number
}

/** Withdrawals get this long, within the time that the SDK's client leaves a server that it closes. */
const withdrawalsMs = 2_500
/** What a server wrote last is passed on, also when something that it started holds its stdout open. */
const lastWordsMs = 500

/**
 * Stands between an MCP client and its server on stdio, and answers the server's questions by asking a person. Ends with
 * the server, or ends it: when the client is gone, or this process is told to stop.
 * @returns the exit code of the server.
 */
export async function runBridge(options: BridgeOptions): Promise<number> {
  const { command, environment, gate, serverName, stdin, stdout, log, stopped, progressMs } = options
  const child = startChild(command, environment, log)
  const [client, server] = [lineWriter(stdout), lineWriter(child.process.stdin)]
  const relay = gate
    ? createRelay({ gate, serverName, log, progressMs, toClient: client.write, toServer: server.write })
    : passingOn(client, server)

  const serverSilent = passLines(child.process.stdout, relay.fromServer, client, (problem) =>
    log(`The server cannot be read: ${problem}.`),
  )
  const clientGone = passLines(stdin, relay.fromClient, server, (problem) =>
    log(`The client cannot be read: ${problem}.`),
  )
  const told = new Promise<NodeJS.Signals>((resolve) => {
    const tell = () => resolve(stopped.reason as NodeJS.Signals)
    if (stopped.aborted) tell()
    else stopped.addEventListener('abort', tell, { once: true })
  })

  const signal = await Promise.race([told, clientGone, serverSilent, child.exited.then(() => null)])
  const [code] = await Promise.all([
    child.exited,
    child.stop(signal),
    // Nobody waits for an answer any more.
    atMost(withdrawalsMs, relay.end()),
  ])
  await atMost(lastWordsMs, serverSilent)
  await client.settled()
  return code
}

/** Null at the end of the stream, however it ended. */
async function passLines(
  from: Readable,
  pass: (line: Buffer) => void,
  to: LineWriter,
  onProblem: (problem: string) => void,
): Promise<null> {
  try {
    for await (const line of linesOf(from, bridgeLineBytesMax)) {
      pass(line)
      await to.settled()
    }
  } catch (error) {
    // A stream that is cut off is the other side going away, as any end is.
    if (error instanceof LineTooLong) onProblem(error.message)
  }
  return null
}

function passingOn(client: LineWriter, server: LineWriter): Relay {
  return { fromClient: server.write, fromServer: client.write, holds: 0, end: async () => {} }
}
