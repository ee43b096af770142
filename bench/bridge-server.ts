import { linesOf, lineWriter } from '../src/bridge/lines.ts'

/** An MCP server that does nothing but answer, for what stands before it to be measured. A call's `text` comes back. */
const out = lineWriter(process.stdout)
for await (const line of linesOf(process.stdin, 64 * 1024 * 1024)) {
  const { id, method, params } = JSON.parse(line.toString())
  if (id === undefined) continue
  const result =
    method === 'initialize'
      ? {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'bench', version: '1' },
        }
      : { content: [{ type: 'text', text: params.arguments.text }] }
  out.write(JSON.stringify({ jsonrpc: '2.0', id, result }))
  await out.settled()
}
