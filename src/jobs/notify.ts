import type { Notifier } from '../notify/notifier.ts'
import type { Job } from './boss.ts'

/**
 * The backstop of notifications. A server tells by itself what it hears of, and tries again what failed in its hands; this
 * finds what was in the hands of one that died.
 */
export function notifyJob(notifier: Notifier): Job {
  return {
    name: 'notify',
    cron: '* * * * *',
    periodSeconds: 60,
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
