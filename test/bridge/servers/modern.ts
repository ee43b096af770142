import { createInterface } from 'node:readline'

/** An MCP server of revision 2026-07-28, without any SDK: it asks in the result of a call, and keeps nothing between two. */
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  const reply = (result: unknown) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
  const capabilities = params?._meta?.['io.modelcontextprotocol/clientCapabilities'] ?? {}
  if (method === 'server/discover')
    reply({
      resultType: 'complete',
      serverInfo: { name: 'modern', version: '2.0.0' },
      supportedVersions: ['2026-07-28'],
    })
  else if (method === 'tools/call' && params.inputResponses === undefined)
    reply(
      capabilities.elicitation?.form
        ? {
            resultType: 'input_required',
            requestState: `state of ${params.arguments.tenant}`,
            inputRequests: {
              confirm: {
                method: 'elicitation/create',
                params: {
                  mode: 'form',
                  message: `Delete ${params.arguments.tenant}?`,
                  requestedSchema: {
                    type: 'object',
                    properties: { confirm: { type: 'boolean' } },
                    required: ['confirm'],
                  },
                },
              },
            },
          }
        : {
            resultType: 'complete',
            isError: true,
            content: [{ type: 'text', text: 'This client cannot be asked.' }],
          },
    )
  else if (method === 'tools/call')
    reply({
      resultType: 'complete',
      content: [
        {
          type: 'text',
          text: JSON.stringify({ state: params.requestState, answer: params.inputResponses.confirm }),
        },
      ],
    })
}
