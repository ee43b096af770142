import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { say } from './turn.ts'

/**
 * A headless Claude Code without a model: what stands behind its `--` is one thing that happens to it, as JSON. A server's native
 * elicitation goes to the command hooks of its `--settings` as Claude Code calls them; a tool use that needs permission goes to the
 * tool that `--permission-prompt-tool` names, on the server of its `--mcp-config`. It prints what it would go by.
 */
const args = process.argv.slice(2)
const operands = args.indexOf('--')
const options = args.slice(0, operands)
const happened = JSON.parse(args[operands + 1]!)

function option(name: string): string | undefined {
  const at = options.findLastIndex((word) => word === name || word.startsWith(`${name}=`))
  if (at < 0) return undefined
  return options[at] === name ? options[at + 1] : options[at]!.slice(name.length + 1)
}

async function decidedByHooks(elicitation: object): Promise<unknown> {
  const settings = JSON.parse(readFileSync(option('--settings')!, 'utf8'))
  for (const { matcher, hooks } of settings.hooks.Elicitation) {
    if (matcher !== '') continue
    for (const { type, command, timeout } of hooks) {
      if (type !== 'command') continue
      const hook = spawn('sh', ['-c', command], {
        stdio: ['pipe', 'pipe', 'inherit'],
        timeout: timeout * 1_000,
      })
      hook.stdin.end(JSON.stringify({ session_id: 's', hook_event_name: 'Elicitation', ...elicitation }))
      const out = await text(hook.stdout)
      if (out.trim() !== '') return JSON.parse(out).hookSpecificOutput
    }
  }
  // What it does when nobody decides.
  return { action: 'cancel', byItself: true }
}

async function permitted(use: object): Promise<unknown> {
  const [, server, tool] = /^mcp__(.+)__(\w+?)$/.exec(option('--permission-prompt-tool')!)!
  const { mcpServers } = JSON.parse(readFileSync(option('--mcp-config')!, 'utf8'))
  const entry = mcpServers[server!]
  const inherited = process.env.CLAUDE_CODE_MCP_ALLOWLIST_ENV
    ? { HOME: process.env.HOME!, PATH: process.env.PATH! }
    : (process.env as Record<string, string>)
  const client = new Client({ name: 'claude-code', version: '2.1.332' })
  await client.connect(
    new StdioClientTransport({
      command: entry.command,
      args: entry.args,
      env: { ...inherited, ...entry.env },
    }),
  )
  const result = await client.callTool({ name: tool!, arguments: { ...use } }, undefined, {
    timeout: entry.timeout,
  })
  await client.close()
  const [block] = result.content as { type: string; text: string }[]
  return result.isError ? { garbage: block!.text } : JSON.parse(block!.text)
}

say({
  pid: process.pid,
  decision: happened.tool_name === undefined ? await decidedByHooks(happened) : await permitted(happened),
})
