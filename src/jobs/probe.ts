import type { Gate } from '../gate/status.ts'
import type { Job } from './boss.ts'

/** Asks every five minutes whether agents can reach the gate. */
export function probeJob(gate: Gate): Job {
  return {
    name: 'probe',
    cron: '*/5 * * * *',
    periodSeconds: 5 * 60,
    // Whatever stands before this server may take a moment to find it.
    settleSeconds: 30,
    async run() {
      await gate.probe()
    },
  }
}
