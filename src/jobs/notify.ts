import type { Journal } from '../events/journal.ts'
import type { Notifier } from '../notify/notifier.ts'
import type { Job } from './boss.ts'

/** New notices do not wait for this: they are taken up when their event is committed. It is for what was missed. */
const lookAtLeastEveryMs = 30_000
const lookAtMostEveryMs = 1_000

/** Sends notifications that are due: those that wait for a while, and those that failed before. */
export function notifyJob(journal: Journal, notifier: Notifier): Job {
  return {
    name: 'notify',
    cron: '* * * * *',
    periodSeconds: 60,
    async nextMs() {
      const next = await notifier.nextDue()
      const ms = next ? next.getTime() - journal.now().getTime() : Number.POSITIVE_INFINITY
      return Math.min(Math.max(ms, lookAtMostEveryMs), lookAtLeastEveryMs)
    },
    async run() {
      await notifier.run()
    },
  }
}

/** Forgets old notifications, and browsers whose key has expired. */
export function pruneNotificationsJob(notifier: Notifier): Job {
  return {
    name: 'prune-notifications',
    cron: '30 * * * *',
    periodSeconds: 60 * 60,
    async run() {
      await notifier.prune()
    },
  }
}
