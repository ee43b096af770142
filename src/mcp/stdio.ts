import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { AskError, type Asker } from './asker.ts'
import type { RemoteDesk } from './remote-desk.ts'
import { createMcpServer, type FailureLog } from './server.ts'
import { type BoundTool, bindTool, listingOf, type Tool } from './tool.ts'
import { askingTools, deskTools } from './tools.ts'

export interface StdioOptions {
  /** Where an agent's questions go; a text says what is missing. */
  asker: Asker | string
  /** Where everything else goes; a text says what is missing. */
  desk: RemoteDesk | string
  stdin: Readable
  stdout: Writable
  log: FailureLog
  /** Fires when this process is to end. */
  stopped: AbortSignal
}

/** What was asked is taken back within this time when the client is gone. */
const withdrawalsMs = 2_500

/**
 * The MCP server on stdio: the same tools as on the HTTP endpoint, as a client of the public API. What cannot work here is
 * listed all the same, and says what it needs. Ends when the client is gone.
 */
export async function serveStdio({ asker, desk, stdin, stdout, log, stopped }: StdioOptions): Promise<void> {
  const running = new Set<Promise<unknown>>()
  const tools = [
    ...askingTools.map((tool) => (typeof asker === 'string' ? lacking(tool, asker) : bindTool(tool, asker))),
    ...deskTools.map((tool) => (typeof desk === 'string' ? lacking(tool, desk) : desk.bind(tool))),
  ].map((tool) => tracked(tool, running))
  const server = createMcpServer(tools, log)
  const ended = new Promise<void>((resolve) => {
    const end = () => resolve()
    for (const event of ['end', 'close', 'error']) stdin.once(event, end)
    server.onclose = end
    if (stopped.aborted) end()
    else stopped.addEventListener('abort', end, { once: true })
  })
  await server.connect(new StdioServerTransport(stdin, stdout))
  await ended
  // It aborts the calls, and those take back what they asked.
  await server.close()
  await Promise.race([
    Promise.allSettled(running),
    new Promise((resolve) => setTimeout(resolve, withdrawalsMs).unref()),
  ])
  if (typeof desk !== 'string') await desk.close()
}

function lacking(tool: Tool<never>, what: string): BoundTool {
  return {
    listing: listingOf(tool),
    async call() {
      throw new AskError('NOT_CONFIGURED', what)
    },
  }
}

function tracked({ listing, call }: BoundTool, running: Set<Promise<unknown>>): BoundTool {
  return {
    listing,
    call(args, each) {
      const result = call(args, each)
      const done = result.catch(() => {}).finally(() => running.delete(done))
      running.add(done)
      return result
    },
  }
}
