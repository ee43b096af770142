import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeDataFolder } from '../src/database/embedded.ts'
import type { Figure } from './figure.ts'
import { freePort, median, startProgram } from './harness.ts'

const rounds = 3
const main = join(import.meta.dirname, '..', 'src', 'main.ts')

/** From the start of the process with the embedded database until it says that it is ready. */
export async function measureStarts(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'holdpoint-bench-starts-'))
  const times: { first: number[]; later: number[] } = { first: [], later: [] }
  try {
    for (let round = 0; round < rounds; round++) {
      const dataDir = join(folder, `data-${round}`)
      for (const which of ['first', 'later'] as const) {
        const environment = { PORT: String(await freePort()), HOLDPOINT_DATA_DIR: dataDir }
        const begun = performance.now()
        const program = await startProgram(main, environment, /is ready at/)
        times[which].push(performance.now() - begun)
        await program.stop()
      }
      await removeDataFolder(dataDir)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  const figure = (what: string, ms: number[], atMost: number): Figure => ({
    what,
    ours: median(ms),
    against: null,
    unit: 'ms',
    value: median(ms),
    spread: [Math.min(...ms), Math.max(...ms)],
    goal: { atMost },
  })
  return [
    figure('first start, from nothing to ready', times.first, 5_000),
    figure('later start', times.later, 2_000),
  ]
}
