import { isRecord, own } from '../base/json.ts'
import { bridgeCallsMax } from '../base/limits.ts'
import { type AskingOptions, createAsking } from './asking.ts'
import { HeldReplies } from './held-replies.ts'
import { HeldRequests } from './held-requests.ts'
import { type Change, editLine, idKey, type Message, notificationLine, parseMessage } from './message.ts'
import { type OpenCall, OpenCalls } from './open-calls.ts'

export interface RelayOptions extends Pick<AskingOptions, 'gate' | 'serverName' | 'log'> {
  toClient(line: Buffer | string): void
  toServer(line: Buffer | string): void
  /** How often either side hears that a call is alive while a person is asked. */
  progressMs?: number
}

/** Between an MCP client and its server: it passes lines on as they are, and answers the server's questions itself. */
export interface Relay {
  fromClient(line: Buffer): void
  fromServer(line: Buffer): void
  /** How many questions wait for a person. */
  readonly holds: number
  /** Either side is gone: everything that was asked is taken back, and nothing more is asked. Lines still pass. */
  end(): Promise<void>
}

const capability = { form: {}, url: {} }
const clientCapabilities = 'io.modelcontextprotocol/clientCapabilities'
const waiting = 'Waiting for a person'
/** Half of the shortest limit on silence that is known, 30 s. */
const progressDefaultMs = 15_000

export function createRelay({
  toClient,
  toServer,
  progressMs = progressDefaultMs,
  ...options
}: RelayOptions): Relay {
  const calls = new OpenCalls()
  const asking = createAsking({ ...options, tickMs: progressMs, onTick: tick })
  const requests = new HeldRequests(asking, calls, toServer)
  const replies = new HeldReplies(asking, calls, toClient, toServer)
  /** Ids of ours whose call was cancelled: the client never knew them. */
  const dead = new Set<string>()
  /** What the server will introduce itself in the reply to. */
  let introduction: string | null = null

  /** What goes to the server for a line of the client; null for nothing. */
  function toPass(line: Buffer): Buffer | string | null {
    const message = parseMessage(line)
    if (message?.method == null) return line
    if (message.method === 'notifications/cancelled')
      return cancelledByClient(own(message.params, 'requestId'), line)
    if (message.id === null) return line
    const changes = advertisement(message)
    const sent = changes.length > 0 ? editLine(line.toString(), changes) : line
    if (message.method === 'initialize' || message.method === 'server/discover')
      introduction = idKey(message.id)
    calls.remember(message, message.id, sent)
    return sent
  }

  function cancelledByClient(id: unknown, line: Buffer): Buffer | string | null {
    const call = calls.byClientId(id)
    if (!call) return line
    calls.forget(call)
    requests.callCancelled(call)
    if (call.held) {
      // The server is done with a call whose reply is held: there is nothing that it could stop.
      call.held.abort()
      return null
    }
    if (call.wireId === call.id) return line
    if (dead.size >= bridgeCallsMax) dead.delete(dead.values().next().value!)
    dead.add(idKey(call.wireId))
    return editLine(line.toString(), [[['params', 'requestId'], call.wireId]])
  }

  /** What goes to the client for a line of the server; null for nothing. */
  function toReturn(line: Buffer): Buffer | string | null {
    const message = parseMessage(line)
    if (!message) return line
    const { method, id, params } = message
    switch (method) {
      case null:
        return replied(message, line)
      case 'elicitation/create':
        if (id === null) return line
        requests.hold(id, params)
        return null
      case 'notifications/cancelled':
        return requests.cancelledByServer(own(params, 'requestId'), own(params, 'reason')) ? null : line
      case 'notifications/elicitation/complete':
        return asking.complete(own(params, 'elicitationId')) ? null : line
      case 'notifications/progress':
        calls.progressed(own(params, 'progressToken'), own(params, 'progress'))
        return line
      default:
        return line
    }
  }

  function replied(message: Message, line: Buffer): Buffer | string | null {
    if (message.id === null) return line
    const key = idKey(message.id)
    if (dead.delete(key)) return null
    if (introduction === key) {
      introduction = null
      asking.introduce(message.result ? own(message.result, 'serverInfo') : null)
    }
    const call = calls.byWireId(message.id)
    if (!call) return line
    if (replies.hold(call, message)) return null
    calls.forget(call)
    requests.callAnswered(call)
    return call.wireId === call.id ? line : editLine(line.toString(), [[['id'], call.id]])
  }

  /** Both sides hear that what they wait for is alive. */
  function tick(): void {
    for (const call of calls) {
      const progress = nextProgress(call)
      if (progress !== null)
        toClient(
          notificationLine('notifications/progress', {
            progressToken: call.progressToken,
            progress,
            message: waiting,
          }),
        )
    }
    requests.tick(waiting)
  }

  return {
    fromClient(line) {
      const passed = toPass(line)
      if (passed !== null) toServer(passed)
    },
    fromServer(line) {
      const returned = toReturn(line)
      if (returned !== null) toClient(returned)
    },
    get holds() {
      return asking.size
    },
    end: asking.end,
  }
}

/** Says what the client's side can do, whatever the client itself said of it. */
function advertisement({ method, params }: Message): Change[] {
  if (method === 'initialize') return [[['params', 'capabilities', 'elicitation'], capability]]
  const meta = own(params, '_meta')
  return isRecord(meta) && isRecord(own(meta, clientCapabilities))
    ? [[['params', '_meta', clientCapabilities, 'elicitation'], capability]]
    : []
}

/** Progress must rise, and what the server tells next must rise too: so ours never reaches the next whole step. */
function nextProgress({ method, progressToken, progress }: OpenCall): number | null {
  if (method !== 'tools/call' || progressToken === null) return null
  progress.ticks += 1
  return progress.base + progress.ticks / (progress.ticks + 1)
}
