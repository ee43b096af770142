import { expect, it } from 'vitest'
import { atMost } from '../../src/bridge/at-most.ts'

const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length

it('leaves no timer behind that would keep a process alive that is done', async () => {
  const before = timers()
  await atMost(60_000, Promise.resolve())
  await expect(atMost(60_000, Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(timers()).toBe(before)
})

it('waits no longer than it is told', async () => {
  await atMost(1, new Promise(() => {}))
})
