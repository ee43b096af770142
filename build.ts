import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Builds the dashboard unless what is built is newer than everything that it is built from. */
const built = join('dist', 'dashboard', 'index.html')
const sources = [
  'src/dashboard',
  'src/elicitation/form',
  'src/base',
  'schema.graphql',
  'vite.config.ts',
  'codegen.ts',
  'package-lock.json',
]

if (!existsSync(built) || sources.some((path) => newest(path) > statSync(built).mtimeMs)) {
  const { status } = spawnSync('npm', ['run', 'build', '--silent'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  })
  process.exit(status ?? 1)
}

function newest(path: string): number {
  if (!existsSync(path)) return 0
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(
    0,
    ...readdirSync(path)
      .filter((name) => name !== 'generated')
      .map((name) => newest(join(path, name))),
  )
}
