import { eraseResolved } from '../elicitation/retention.ts'
import type { Journal } from '../events/journal.ts'
import type { Job } from './boss.ts'

const dayMs = 24 * 60 * 60_000

/** Erases what was said in requests that were resolved more than `retentionDays` ago. */
export function retentionJob(journal: Journal, retentionDays: number): Job {
  return {
    name: 'retention',
    cron: '0 * * * *',
    periodSeconds: 60 * 60,
    async run(stopping) {
      await eraseResolved(journal, new Date(journal.now().getTime() - retentionDays * dayMs), stopping)
    },
  }
}
