import { readFileSync, statSync } from 'node:fs'
import { say, takeTurn } from './turn.ts'

/**
 * Starts its MCP server as Claude Code does: the whole environment and the entry's own on top; with the allow-list switch only
 * HOME, PATH and TERM and the entry's own. Its config is what `--mcp-config` names.
 */
const file = process.argv.findLast((word) => word.startsWith('--mcp-config='))?.slice('--mcp-config='.length)
if (file === undefined) throw new Error(`no --mcp-config in ${process.argv.slice(2).join(' ')}`)
const config = JSON.parse(readFileSync(file, 'utf8'))
say({
  args: process.argv.slice(2),
  configFile: file,
  configMode: (statSync(file).mode & 0o777).toString(8),
  config,
  environment: process.env,
})
const [entry] = Object.values<any>(config.mcpServers)
const { HOME, PATH, TERM, CLAUDE_CODE_MCP_ALLOWLIST_ENV } = process.env
const inherited = CLAUDE_CODE_MCP_ALLOWLIST_ENV ? { HOME, PATH, TERM } : process.env
await takeTurn(entry, { ...defined(inherited), ...entry.env })

function defined(variables: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >
}
