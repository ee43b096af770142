import { spawn } from 'node:child_process'

/** The server, started again when a source changes, and the dashboard under Vite, which reloads by itself. Open Vite's address. */
const programs = [
  spawn(process.execPath, ['--watch', '--watch-preserve-output', 'src/main.ts'], { stdio: 'inherit' }),
  spawn('vite', ['--clearScreen', 'false'], { stdio: 'inherit', shell: process.platform === 'win32' }),
]
// Ctrl-C reaches both by itself; a signal to this process alone has to be passed on.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {
  for (const program of programs) program.kill('SIGTERM')
})
for (const program of programs)
  program.on('exit', () => {
    for (const other of programs) if (other !== program) other.kill('SIGTERM')
  })
