import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { measureBridge } from './bridge.ts'
import { measureDashboard } from './dashboard.ts'
import { measureFanOut } from './fan-out.ts'
import { type Figure, printFigures } from './figure.ts'
import { measureGrowth } from './growth.ts'
import { openHouse } from './house.ts'
import { measurePages } from './pages.ts'
import { measureRequests } from './requests.ts'
import { measureMemory, measureRoundTrip } from './round-trip.ts'
import { measureStarts } from './starts.ts'

/**
 * Every figure beside its floor or its peer, in the same run and in turns. Prints a table and writes bench/results.json.
 *
 *   npm run bench            all of it, under ten minutes
 *   npm run bench -- pages   what is named alone: requests, pages, fan-out, round-trip, memory, growth,
 *                            starts, bridge, dashboard
 */
const withHouse = (measure: typeof measureRequests) => async () => {
  await using house = await openHouse()
  return await measure(house)
}
const measures: Record<string, () => Promise<Figure[]>> = {
  requests: withHouse(measureRequests),
  pages: withHouse(measurePages),
  'fan-out': withHouse(measureFanOut),
  'round-trip': withHouse(measureRoundTrip),
  memory: withHouse(measureMemory),
  growth: measureGrowth,
  starts: measureStarts,
  bridge: measureBridge,
  dashboard: measureDashboard,
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !Object.hasOwn(measures, name))
if (unknown.length > 0) {
  console.error(`There is no measure ${unknown.join(', ')}. There are ${Object.keys(measures).join(', ')}.`)
  process.exit(64)
}
const figures: Figure[] = []
for (const [name, measure] of Object.entries(measures)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const measured = await measure()
  printFigures(measured)
  figures.push(...measured)
}
if (wanted.length === 0)
  await writeFile(join(import.meta.dirname, 'results.json'), `${JSON.stringify(figures, null, 2)}\n`)
