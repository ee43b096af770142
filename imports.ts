import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/**
 * Imports point down only. Each row may import from itself and from the rows below it; rooms of one row never know each
 * other. The command line, the runner, the bridge and the dashboard stand apart: they use the public API, and of the house what
 * needs no server, such as the tools of the MCP endpoint, which `holdpoint mcp` serves over stdio.
 */
const rows: string[][] = [
  ['main.ts'],
  ['serve.ts'],
  ['announce.ts'],
  ['app.ts'],
  ['http.ts', 'drain.ts'],
  ['graphql', 'rest', 'mcp', 'web', 'ops'],
  ['jobs'],
  ['elicitation'],
  ['session'],
  ['auth', 'gate', 'notify'],
  ['events'],
  ['config.ts'],
  ['database'],
  ['base'],
]
const apart: Record<string, string[]> = {
  cli: [
    'mcp',
    'cli',
    'base',
    'gate',
    'config.ts',
    'main.ts',
    'runner',
    'bridge',
    'database',
    'auth/launcher-key.ts',
  ],
  runner: ['runner', 'base', 'gate', 'database/generated/prisma/enums.ts'],
  bridge: ['bridge', 'base', 'gate', 'mcp'],
  dashboard: ['dashboard', 'base', 'elicitation/form'],
}
/** The address that agents are told is configured, and the gate says what it may be: its rules know nothing of the house. */
const allowed = new Set(['config.ts → gate'])

const faults: string[] = []
for (const file of globSync('src/**/*.{ts,tsx}', { exclude: (path) => path.includes('generated') })) {
  if (file.includes('generated')) continue
  const path = normalize(file).slice('src/'.length)
  const room = roomOf(path)
  for (const [, specifier] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    const target = normalize(join(dirname(path), specifier!))
    if (target.startsWith('..')) continue
    if (!mayImport(room, target))
      faults.push(`${file} imports ${target}: ${room} may not know ${roomOf(target)}`)
  }
}
if (faults.length > 0) {
  process.stderr.write(`Imports that point the wrong way:\n${faults.map((fault) => `  ${fault}\n`).join('')}`)
  process.exit(1)
}

function roomOf(path: string): string {
  return path.split('/')[0]!
}

function mayImport(room: string, target: string): boolean {
  const to = roomOf(target)
  if (room === to || allowed.has(`${room} → ${to}`)) return true
  if (apart[room]) return apart[room].some((each) => target === each || target.startsWith(`${each}/`))
  const [from, at] = [room, to].map((each) => rows.findIndex((row) => row.includes(each)))
  return from !== -1 && at !== -1 && at! > from!
}
