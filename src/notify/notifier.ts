import { once } from 'node:events'
import type { Log } from '../base/log.ts'
import type { Refusal } from '../base/refusal.ts'
import type { TimelineEvent } from '../events/event.ts'
import type { Journal } from '../events/journal.ts'
import type { Channel } from './notice.ts'
import {
  claimDue,
  dropped,
  failed,
  type Notification,
  nextDue,
  pruneNotifications,
  resend,
  sent,
  wasToldOf,
} from './outbox.ts'
import { createPump, oneAtATime } from './pump.ts'
import { findSubscription, forgetSubscription, pruneSubscriptions } from './push-subscription.ts'
import { findSubject, type Subject } from './subject.ts'
import { beginWalk, isWorthAWalk, walkTimeline } from './timeline-walk.ts'
import {
  createWebPush,
  loadVapidKeys,
  type PushAddresses,
  pushMessage,
  type VapidKeys,
  type WebPush,
} from './web-push.ts'
import { createWebhook, type Delivered, webhookBody } from './webhook.ts'

export interface NotifierOptions {
  journal: Journal
  /** Up to where the timeline is settled: the position of this server's tail. */
  position: () => bigint
  publicUrl: string
  /** Null: no webhook. */
  webhook: { url: string; secret: string | null } | null
  /** Null: keys of the installation's own. */
  vapidKeys: VapidKeys | null
  pushAddresses?: PushAddresses
  log: Pick<Log, 'info' | 'warn'>
}

/** Tells those who are not looking at the page: a webhook, and browsers that are closed. */
export interface Notifier {
  push: WebPush
  /** Takes every event that this server's tail hands out. */
  follow(event: TimelineEvent): void
  /** Reads on in the timeline and takes in hand what is due. */
  run(): Promise<void>
  /** Settles when nothing is in hand. */
  settled(): Promise<void>
  /** Sends a given-up notification again. */
  resend(id: string): Promise<Notification | Refusal>
  /** Forgets what is settled and old, and browsers whose key has expired. */
  prune(): Promise<void>
  /** Takes nothing more. What is under way gets a moment to end, and what does not is tried again by whoever is next. */
  stop(): Promise<void>
}

/** Attempts under way at once in one server. */
const concurrency: Record<Channel, number> = { webhook: 4, push: 16 }
const stopGraceMs = 2_000
/** What is due and cannot be taken (all hands are full, or another server has it) is looked at again after this. */
const lookAtMostEveryMs = 1_000
const timerMaxMs = 60 * 60_000
/** Events that follow each other this closely are one walk, whose commit keeps out of the way of what agents wait for. */
const followAfterMs = 100

/**
 * Following the tail, and a timer for what is due later, only make it quick. All that is to be told is in the tables, where
 * `run` finds it on whichever server: nothing that was committed is left untold, and nothing is told twice because there
 * are two.
 */
export async function startNotifier(options: NotifierOptions): Promise<Notifier> {
  const { journal, position, publicUrl, pushAddresses, log } = options
  const { database } = journal
  const ending = new AbortController()
  const { signal } = ending
  let stopped: Promise<void> | null = null
  let isOver = false
  const keys = await loadVapidKeys(database, options.vapidKeys)
  const push = createWebPush({ keys, publicUrl, addresses: pushAddresses, signal })
  const webhook = options.webhook && createWebhook({ ...options.webhook, now: journal.now, signal })
  if (options.webhook && options.webhook.secret === null)
    log.warn(
      'HOLDPOINT_NOTIFY_WEBHOOK_URL is set and HOLDPOINT_WEBHOOK_SECRET is not: webhooks go out unsigned, and whoever finds their receiver can send it others',
    )
  await beginWalk(database, position())
  const onError = (error: unknown) =>
    log.warn({ err: error }, 'notifications could not be read or written; they are taken up again soon')

  const channels: Record<
    Channel,
    ((notification: Notification, subject: Subject) => Promise<Delivered | null>) | null
  > = {
    webhook:
      webhook &&
      ((notification, subject) =>
        webhook(notification.id, webhookBody(notification.type, subject, publicUrl))),
    async push({ type, target }, subject) {
      const now = journal.now()
      const browser = await findSubscription(database, { id: target }, now)
      if (!browser) return null
      const { message, terms } = pushMessage(type, subject, publicUrl, now)
      const delivered = await push.send(browser, message, terms)
      if (!delivered.ok && delivered.gone) await forgetSubscription(database, browser.id)
      return delivered
    },
  }

  async function attempt(notification: Notification): Promise<void> {
    const subject = await findSubject(database, notification.eventCursor)
    const delivered =
      subject && (await isStillTrue(journal, notification, subject))
        ? await channels[notification.channel]!(notification, subject)
        : null
    const { id, channel, type, attempts } = notification
    if (delivered === null) await dropped(journal, notification)
    else if (delivered.ok) await sent(journal, notification)
    else if (delivered.gone) {
      log.info(
        { notification: id, detail: delivered.detail },
        'a browser is no more; its subscription is forgotten',
      )
      await dropped(journal, notification)
    } else {
      const state = await failed(journal, notification, delivered.detail)
      log.warn(
        { notification: id, channel, type, attempts, detail: delivered.detail },
        state === 'dead' ? 'a notification was given up' : 'a notification could not be delivered',
      )
      await setTimer()
    }
  }

  const pumps = (Object.keys(channels) as Channel[])
    .filter((channel) => channels[channel] !== null)
    .map((channel) =>
      createPump({
        claim: (max) => claimDue(journal, channel, max),
        handle: attempt,
        concurrency: concurrency[channel],
        onError,
      }),
    )
  const run = oneAtATime(async () => {
    if (isOver) return
    await walkTimeline({ journal, position, hasWebhook: webhook !== null })
    await Promise.all(pumps.map((pump) => pump.look()))
    await setTimer()
  })
  const runAside = () => void run().catch(onError)
  let soon: NodeJS.Timeout | undefined
  const runSoon = () => {
    soon ??= setTimeout(runNow, followAfterMs)
  }
  const runNow = () => {
    clearTimeout(soon)
    soon = undefined
    runAside()
  }
  const settled = async () => {
    do {
      if (soon) runNow()
      // First what takes in hand, then what is in hand.
      await run.running()?.catch(() => {})
      await Promise.all(pumps.map((pump) => pump.settled()))
    } while (run.running() || soon)
  }

  let timer: NodeJS.Timeout | undefined
  async function setTimer(): Promise<void> {
    const next = await nextDue(database)
    clearTimeout(timer)
    if (isOver || next === null) return
    const ms = next.getTime() - journal.now().getTime()
    timer = setTimeout(runAside, Math.min(Math.max(ms, lookAtMostEveryMs), timerMaxMs)).unref()
  }

  async function end(): Promise<void> {
    clearTimeout(timer)
    const grace = setTimeout(() => ending.abort(), stopGraceMs)
    if (soon) {
      // What was committed in the last moment: for a while there may be nobody else to tell of it.
      clearTimeout(soon)
      soon = undefined
      await Promise.race([run().catch(onError), once(signal, 'abort')])
    }
    isOver = true
    for (const pump of pumps) pump.stop()
    await settled()
    clearTimeout(grace)
  }

  // What became due, or was committed and not read, while no server ran.
  runAside()
  return {
    push,
    follow(event) {
      if (!stopped && isWorthAWalk(event)) runSoon()
    },
    run,
    settled,
    async resend(id) {
      const result = await resend(journal, id)
      runAside()
      return result
    },
    async prune() {
      const now = journal.now()
      await pruneNotifications(database, now)
      await pruneSubscriptions(database, now)
    },
    stop() {
      stopped ??= end()
      return stopped
    },
  }
}

/** Whether there still is a reason to send it. */
async function isStillTrue(journal: Journal, notification: Notification, subject: Subject): Promise<boolean> {
  const { session, elicitation, at } = subject
  const { type, channel, lastError } = notification
  switch (type) {
    case 'session.needs_input':
      // Asked once: a receiver that may have heard of a pause is told of it, however long that takes.
      return (
        lastError !== null ||
        (session!.status === 'needs_input' &&
          !session!.blocked &&
          session!.needsInputSince?.getTime() === at.getTime())
      )
    case 'elicitation.pending':
      return (
        channel === 'webhook' || (elicitation!.status === 'pending' && elicitation!.expiresAt > journal.now())
      )
    case 'elicitation.resolved':
      return channel === 'webhook' || wasToldOf(journal.database, notification)
    default:
      return true
  }
}
