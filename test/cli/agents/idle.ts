import { spawn } from 'node:child_process'
import { say } from './turn.ts'

/**
 * An agent that does nothing, with a child and a grandchild that do nothing either, and with `stubborn` do not listen to SIGTERM.
 * It exits on SIGUSR2.
 */
const ignore = process.argv.includes('stubborn') ? `process.on('SIGTERM', () => {});` : ''
const last = `${ignore} setInterval(() => {}, 1000)`
const middle = `${last}; const { pid } = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(last)}], { stdio: 'ignore' }); console.log(pid)`
const child = spawn(process.execPath, ['-e', middle], { stdio: ['ignore', 'pipe', 'ignore'] })
process.on('SIGUSR2', () => process.exit(Number(process.env.AGENT_EXIT_CODE ?? 0)))
child.stdout.once('data', (line) =>
  say({ agent: process.pid, child: child.pid, grandchild: Number(line), environment: process.env }),
)
setInterval(() => {}, 1000)
