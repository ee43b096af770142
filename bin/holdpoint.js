#!/usr/bin/env node
// Plain JavaScript for any Node that is still about: the rest is TypeScript, which older ones cannot even read.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const nodeMajorMin = 24
const program = fileURLToPath(import.meta.url)
const root = dirname(dirname(program))

if (Number(process.versions.node.split('.')[0]) >= nodeMajorMin) {
  // Halves the time to start. Beside the code, as what is in there is trusted as much.
  module.enableCompileCache(join(root, 'node_modules', '.cache', 'holdpoint'))
  await import('../src/cli/holdpoint.ts')
} else {
  const node = findNode()
  if (node === null) {
    process.stderr.write(
      `Holdpoint needs Node ${nodeMajorMin} or newer, and this is ${process.version}. Run "npm ci" in ${root}, which brings one along, or install it.\n`,
    )
    process.exit(1)
  }
  const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: 'inherit' })
  // What a terminal sends goes to both of us; passing it on would make one Ctrl-C two.
  for (const signal of ['SIGINT', 'SIGQUIT'])
    process.on(signal, () => process.stdin.isTTY || child.kill(signal))
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

/** The Node that is installed with Holdpoint. */
function findNode() {
  try {
    const folder = dirname(module.createRequire(import.meta.url).resolve('node/package.json'))
    return ['node', 'node.exe'].map((name) => join(folder, 'bin', name)).find(existsSync) ?? null
  } catch {
    return null
  }
}
