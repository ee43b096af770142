import { forgetDelivered } from '../elicitation/retention.ts'
import type { Journal } from '../events/journal.ts'
import type { Job } from './boss.ts'

/** Erases the content of answers that were delivered more than `afterMinutes` ago. */
export function forgetContentJob(journal: Journal, afterMinutes: number): Job {
  return {
    name: 'forget-content',
    cron: '* * * * *',
    periodSeconds: 60,
    async run(stopping) {
      await forgetDelivered(journal, new Date(journal.now().getTime() - afterMinutes * 60_000), stopping)
    },
  }
}
