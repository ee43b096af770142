import { expireDue, nextDeadline } from '../elicitation/expire.ts'
import type { Journal } from '../events/journal.ts'
import type { Job } from './boss.ts'

/** No deadline is nearer than a minute when it is made, so looking twice a minute misses none. */
const lookAtLeastEveryMs = 30_000

/** Expires requests at their deadlines, so that whoever watches sees it happen. */
export function expiryJob(journal: Journal): Job {
  return {
    name: 'expiry',
    cron: '* * * * *',
    periodSeconds: 60,
    async nextMs() {
      const next = await nextDeadline(journal)
      return Math.min(next ? next.getTime() - journal.now().getTime() : Infinity, lookAtLeastEveryMs)
    },
    async run(stopping) {
      await expireDue(journal, stopping)
    },
  }
}
