import { setTimeout as delay } from 'node:timers/promises'
import { now } from './clients.ts'
import { type Crowd, gather } from './crowd.ts'
import { create, subscribeAll } from './fan-out.ts'
import type { Figure } from './figure.ts'
import { percentile } from './harness.ts'
import { adminKey, type House, residentBytes, type Server, seedPending, seedSessions } from './house.ts'

const heldPolls = 2_000
const rounds = 200
const waiters = 10_000

/** What a person and an agent feel: a question until it is on the page, an answer until the agent has it. */
export async function measureRoundTrip(house: House): Promise<Figure[]> {
  await using crowd = gather()
  const requestIds = await seedPending(house, await seedSessions(house, heldPolls))
  await crowd.tell({ do: 'hold', port: house.ours.port, paths: requestIds.map(heldPoll), count: heldPolls })
  await delay(1_000)

  const floor: number[] = []
  const answered: number[] = []
  for (const requestId of requestIds.slice(0, rounds)) {
    const asked = now()
    await (await fetch(`http://127.0.0.1:${house.floor.port}/api/v1/elicitations/${requestIds[0]}`)).text()
    floor.push(now() - asked)

    const begun = now()
    const [, { arrivals }] = await Promise.all([answer(house, requestId), crowd.collect(1)])
    answered.push(arrivals[0]! - begun)
  }
  await crowd.tell({ do: 'close' })

  await subscribeAll(house, crowd, 1)
  const raised: number[] = []
  for (const session of await seedSessions(house, rounds)) {
    const begun = now()
    const [, { arrivals }] = await Promise.all([create(house, session), crowd.collect(1)])
    raised.push(arrivals[0]! - begun)
  }
  const line = (what: string, times: number[], share: number, atMost: number | null): Figure => ({
    what,
    ours: percentile(times, share),
    against: percentile(floor, share),
    unit: 'ms',
    value: atMost === null ? percentile(times, share) / percentile(floor, share) : percentile(times, share),
    spread: null,
    goal: atMost === null ? null : { atMost },
  })
  return [
    line(
      `answer until the held poll has it, p50 among ${heldPolls.toLocaleString('en')} held polls`,
      answered,
      0.5,
      5,
    ),
    line('the same, p99', answered, 0.99, 25),
    line('question until a subscriber has the banner, p50', raised, 0.5, 5),
    line('the same, p99', raised, 0.99, 25),
  ]
}

const heldPoll = (requestId: string) => `/api/v1/elicitations/${requestId}?wait=60`

/** What each of those who wait costs the server in memory; a held poll beside what node:http takes for an answer that it keeps back. */
export async function measureMemory(house: House): Promise<Figure[]> {
  const { ours, floor } = house
  const requestIds = await seedPending(house, await seedSessions(house, waiters))
  const hold = (port: number, paths: string[]) => (crowd: Crowd) =>
    crowd.tell({ do: 'hold', port, paths, count: waiters })
  const bare = await kilobytesEach(floor, hold(floor.port, ['/held']))
  const held = await kilobytesEach(ours, hold(ours.port, requestIds.map(heldPoll)))
  const idle = await kilobytesEach(ours, (crowd) => subscribeAll(house, crowd, waiters))
  const at = `at ${waiters.toLocaleString('en')}`
  return [
    ...(held === null
      ? []
      : [memory(`memory of a held poll ${at}, against an answer that node:http holds back`, held, bare, 15)]),
    ...(idle === null ? [] : [memory(`memory of an idle subscriber ${at}`, idle, null, 25)]),
  ]
}

const memory = (what: string, ours: number, against: number | null, atMost: number): Figure => ({
  what,
  ours,
  against,
  unit: 'KB',
  value: ours,
  spread: null,
  goal: { atMost },
})

/** Null where the system does not tell. */
async function kilobytesEach({ pid }: Server, fill: (crowd: Crowd) => Promise<void>): Promise<number | null> {
  await using crowd = gather()
  const before = await residentBytes(pid)
  if (before === null) return null
  await fill(crowd)
  await delay(3_000)
  return ((await residentBytes(pid))! - before) / waiters / 1_024
}

async function answer({ ours }: House, requestId: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${ours.port}/api/v1/elicitations/${requestId}/respond`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': adminKey },
    body: JSON.stringify({ action_type: 'decline' }),
  })
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}
