import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { restOfJob } from '../../../src/runner/process-group.ts'

/**
 * A job as a shell starts it: a leader, which starts a neighbour and a runner; the runner starts an agent, and that a child. They are
 * all of one process group. Prints who is alive after the runner has ended the rest of its job.
 */
const forever = 'setInterval(() => {}, 1000)'
const node = (...args: string[]) => spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
const firstLine = async (child: ChildProcess) => String((await once(child.stdout!, 'data'))[0]).trim()
const self = import.meta.filename

switch (process.argv[2]) {
  case 'runner': {
    const agent = node(
      '-e',
      `console.log(require('node:child_process').spawn(process.execPath, ['-e', '${forever}'], { stdio: 'ignore' }).pid); ${forever}`,
    )
    const grandchild = Number(await firstLine(agent))
    const job = restOfJob()
    const before = job.isAlive()
    const ended = once(agent, 'exit')
    job.signal('SIGKILL')
    await ended
    while (job.isAlive()) await new Promise((resolve) => setTimeout(resolve, 20))
    process.stdout.write(`${JSON.stringify({ before, agent: agent.pid, grandchild, runner: process.pid })}\n`)
    break
  }
  default: {
    const neighbour = node('-e', forever)
    const runner = node(self, 'runner')
    const facts = JSON.parse(await firstLine(runner))
    await once(runner, 'exit')
    process.stdout.write(
      `${JSON.stringify({ ...facts, neighbour: neighbour.exitCode ?? neighbour.signalCode ?? 'alive' })}\n`,
    )
    neighbour.kill()
  }
}
