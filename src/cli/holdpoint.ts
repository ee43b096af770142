#!/usr/bin/env node
import { CommanderError } from 'commander'
import { exitCodes, Problem } from './problem.ts'
import { createProgram } from './program.ts'
import { createTerminal } from './terminal.ts'

/** The command line `holdpoint`. Started by bin/holdpoint.js, which finds a Node that can read this. */

// Whoever reads our lines may have read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(exitCodes.done)
})

const terminal = createTerminal(process.env, process.cwd())
try {
  const program = createProgram(terminal, {
    processEnvironment: process.env,
    exit(code) {
      process.exitCode = code
    },
  })
  await program.parseAsync(process.argv)
} catch (error) {
  if (error instanceof CommanderError)
    process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  else if (error instanceof Problem) {
    terminal.note(`holdpoint: ${error.message}`)
    process.exitCode = error.exitCode
  } else throw error
}
