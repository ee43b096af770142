import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { groupOf } from '../../src/runner/process-group.ts'
import { startOf } from '../../src/runner/processes.ts'
import { gone } from '../cli/support/command.ts'

test('the rest of a job is what the runner has started: not who started it, nor its neighbours', async () => {
  const program = join(import.meta.dirname, 'programs', 'job.ts')
  const leader = spawn(process.execPath, [program], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const facts = JSON.parse(await text(leader.stdout))
  expect(facts).toMatchObject({ before: true, neighbour: 'alive' })
  await Promise.all([gone(facts.agent), gone(facts.grandchild)])
})

test('a group is alive until the last of it has ended, and a signal to one that is gone is nothing', async () => {
  const script = `require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], { stdio: 'ignore' }); console.log(1)`
  const leader = spawn(process.execPath, ['-e', `${script}; setTimeout(() => process.exit(), 10)`], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const group = groupOf(leader.pid!)
  // The leader waits for its child, as Node does; so it is ended by force, and the child alone is left.
  await once(leader.stdout, 'data')
  process.kill(leader.pid!, 'SIGKILL')
  await once(leader, 'exit')
  expect(group.isAlive()).toBe(true)
  group.signal('SIGKILL')
  await expect.poll(() => group.isAlive(), { timeout: 10_000 }).toBe(false)
  expect(() => group.signal('SIGTERM')).not.toThrow()
})

test('the start of a process is told to the second, where the system tells it', () => {
  const started = Date.now() - process.uptime() * 1_000
  const told = startOf(process.pid)
  if (process.platform === 'linux') expect(Math.abs(told!.getTime() - started)).toBeLessThan(5_000)
  else expect(told).toBeNull()
  expect(startOf(2 ** 30)).toBeNull()
})
