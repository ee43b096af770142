import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { createServer } from 'node:http'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'

/** A program that is not a part of this project: named by a variable, or on the PATH. Null when it is neither. */
export function findProgram(name: string, variable: string): string | null {
  const named = process.env[variable]
  const candidates = named
    ? [named]
    : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))
  return candidates.find(isExecutable) ?? null
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    execFileSync(file, ['--version'], { stdio: 'ignore', timeout: 60_000 })
    return true
  } catch {
    return false
  }
}

export interface MockModel extends Disposable {
  url: string
  /** What each tool call came back with, as the model reads it. */
  results: string[]
}

/** An Anthropic API on loopback whose model calls a tool once, by the end of its name, and then says what came of it. */
export async function startMockModel(toolName: string, input: object): Promise<MockModel> {
  const results: string[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await text(request)) || '{}')
    if (!request.url?.startsWith('/v1/messages') || request.url.includes('count_tokens')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens": 1}')
      return
    }
    const blocks: any[] = (body.messages ?? []).flatMap(({ content }: any) =>
      Array.isArray(content) ? content : [],
    )
    const result = blocks.find(({ type }) => type === 'tool_result')
    const tool = (body.tools ?? []).find(({ name }: any) => name.endsWith(toolName))
    if (result) results.push(JSON.stringify(result.content))
    const block =
      tool && !result
        ? { type: 'tool_use', id: 'toolu_1', name: tool.name, input: {} }
        : { type: 'text', text: '' }
    const delta =
      tool && !result
        ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
        : { type: 'text_delta', text: 'It is done.' }
    const usage = { input_tokens: 1, output_tokens: 1 }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: body.model,
          content: [],
          stop_reason: null,
          usage,
        },
      },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: tool && !result ? 'tool_use' : 'end_turn' }, usage },
      { type: 'message_stop' },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    results,
    [Symbol.dispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
