import { setTimeout as delay } from 'node:timers/promises'
import { now } from './clients.ts'
import { gather } from './crowd.ts'
import { create, subscribeAll } from './fan-out.ts'
import type { Figure } from './figure.ts'
import { percentile } from './harness.ts'
import { adminKey, type House, residentBytes, seedPending, seedSessions } from './house.ts'

const heldPolls = 2_000
const rounds = 200
const waiters = 10_000

/** What a person and an agent feel: a question until it is on the page, an answer until the agent has it. */
export async function measureRoundTrip(house: House): Promise<Figure[]> {
  await using crowd = gather()
  const requestIds = await seedPending(house, await seedSessions(house, heldPolls))
  await crowd.tell({ do: 'hold', port: house.ours.port, requestIds, count: heldPolls })
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

/** What each of those who wait costs the server in memory. */
export async function measureMemory(house: House): Promise<Figure[]> {
  const requestIds = await seedPending(house, await seedSessions(house, waiters))
  const figures: Figure[] = []
  for (const [what, goal, fill] of [
    [
      'memory of a held poll',
      15,
      (crowd: ReturnType<typeof gather>) =>
        crowd.tell({ do: 'hold', port: house.ours.port, requestIds, count: waiters }),
    ],
    [
      'memory of an idle subscriber',
      25,
      (crowd: ReturnType<typeof gather>) => subscribeAll(house, crowd, waiters),
    ],
  ] as const) {
    await using crowd = gather()
    const before = await residentBytes(house.ours.pid)
    if (before === null) continue
    await fill(crowd)
    await delay(3_000)
    const kilobytes = ((await residentBytes(house.ours.pid))! - before) / waiters / 1_024
    figures.push({
      what: `${what}, at ${waiters.toLocaleString('en')}`,
      ours: kilobytes,
      against: null,
      unit: 'KB',
      value: kilobytes,
      spread: null,
      goal: { atMost: goal },
    })
  }
  return figures
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
