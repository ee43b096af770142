import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { say, takeTurn } from './turn.ts'

/** Starts its MCP server as Codex does: a short list of names, what `env_vars` forwards, and the entry's own on top. */
const home = process.env.CODEX_HOME!
const file = join(home, 'config.toml')
const config: any = parse(readFileSync(file, 'utf8'))
say({
  args: process.argv.slice(2),
  home,
  files: readdirSync(home),
  configMode: (statSync(file).mode & 0o777).toString(8),
  config,
  auth: readFileSync(join(home, 'auth.json'), 'utf8'),
})
const [entry] = Object.values<any>(config.mcp_servers)
const passed = [
  'HOME',
  'LOGNAME',
  'PATH',
  'SHELL',
  'USER',
  'LANG',
  'LC_ALL',
  'TERM',
  'TMPDIR',
  'TZ',
  ...(entry.env_vars ?? []),
]
const inherited = passed.flatMap((name) =>
  process.env[name] === undefined ? [] : [[name, process.env[name]]],
)
await takeTurn(entry, { ...Object.fromEntries(inherited), ...entry.env })
