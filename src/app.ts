import type { ListenOptions } from 'node:net'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createAuthenticator } from './auth/authenticator.ts'
import { createFailedAttempts } from './auth/failed-attempts.ts'
import { ensureAdminKey } from './auth/first-key.ts'
import { ensureLauncherKey, writeAddress } from './auth/launcher-key.ts'
import { guardUserHeader } from './auth/proxied-user.ts'
import { createSignInLink } from './auth/sign-in.ts'
import type { Config } from './config.ts'
import { openDatabase } from './database/database.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './database/embedded.ts'
import { applyMigrations } from './database/migrate.ts'
import { withPatience } from './database/patience.ts'
import { createRecovery } from './database/recovery.ts'
import { sharedSecret } from './database/secret.ts'
import { closePort, drainGraceDefaultMs, hintKeepAlive, untilConnectionsEnd } from './drain.ts'
import { createRequests, type Desk } from './elicitation/elicitation.ts'
import { createHeldPolls } from './elicitation/held-polls.ts'
import type { Poller } from './elicitation/poll.ts'
import { createPolledReader } from './elicitation/polled.ts'
import { createPresence } from './elicitation/presence.ts'
import { startDoorbell } from './events/doorbell.ts'
import type { NewEvent, TimelineEvent } from './events/event.ts'
import { createFanout } from './events/fanout.ts'
import { createJournal, type Journal } from './events/journal.ts'
import { startTail } from './events/tail.ts'
import { createTimelineVersion } from './events/version.ts'
import { publicUrlOf } from './gate/address.ts'
import { createGate, type Gate } from './gate/status.ts'
import { registerGraphql } from './graphql/server/register.ts'
import { createHttp } from './http.ts'
import { type Job, openJobs } from './jobs/boss.ts'
import { expiryJob } from './jobs/expiry.ts'
import { forgetContentJob } from './jobs/forget-content.ts'
import { notifyJob, pruneNotificationsJob } from './jobs/notify.ts'
import { probeJob } from './jobs/probe.ts'
import { retentionJob } from './jobs/retention.ts'
import { sweepJob } from './jobs/sweep.ts'
import { registerMcp } from './mcp/register.ts'
import { type Notifier, startNotifier } from './notify/notifier.ts'
import { createPager } from './notify/page.ts'
import type { PushAddresses } from './notify/web-push.ts'
import { registerHealth } from './ops/health.ts'
import { createMetrics } from './ops/metrics.ts'
import { registerRest } from './rest/register.ts'
import { createLaunch } from './session/prepare-launch.ts'
import { registerDashboard } from './web/dashboard.ts'

export interface App {
  /** The address that the server listens on. */
  url: string
  publicUrl: string
  /** The admin key, on the start that made it up. */
  newAdminKey: string | null
  /** A sign-in link, unless no admin key is left. */
  signInLink: string | null
  /** How many polls are held open. */
  heldPolls(): number
  /** Goes away in order; what waits is answered first. */
  close(): Promise<void>
}

export interface AppOptions {
  log: Logger
  /** The embedded database, when it is being started already; ended with the app. */
  postgres?: Promise<EmbeddedPostgres> | null
  /** The clock of everything that is dated or has a deadline. */
  now?: () => Date
  /** Where Web Push may go; `any` is for tests. */
  pushAddresses?: PushAddresses
  /** How long open connections may be used once more while the server goes away. */
  drainGraceMs?: number
}

const dashboardFolder = join(import.meta.dirname, '..', 'dist', 'dashboard')

/** Puts the house together: the one place that knows all rooms. What was begun is ended last-in first-out. */
export async function startApp(config: Config, options: AppOptions): Promise<App> {
  const ending = new AsyncDisposableStack()
  try {
    return await build(config, options, ending)
  } catch (error) {
    await ending.disposeAsync()
    throw error
  }
}

async function build(config: Config, options: AppOptions, ending: AsyncDisposableStack): Promise<App> {
  const {
    log,
    now = () => new Date(),
    pushAddresses,
    drainGraceMs = config.databaseUrl === null ? 0 : drainGraceDefaultMs,
  } = options
  const onError = (what: string) => (error: unknown) => log.warn({ err: error }, what)
  let draining = false
  // Whoever goes away takes the embedded database along, and need not wonder where it went.
  const onLost = (what: string) => (error: unknown) => draining || log.warn({ err: error }, what)
  const connectionString = await databaseAddress(config, options, ending)
  await withPatience(() => applyMigrations(connectionString), { log })
  const database = openDatabase({ connectionString, onError: onLost('a database connection was lost') })
  ending.defer(() => database.close())
  const recovery = createRecovery(database)
  ending.defer(() => recovery.stop())

  const secret = await sharedSecret(database, 'signing')
  const heldPolls = createHeldPolls(config.heldPollsMax, config.limits.heldPollsPerAddress)
  const presence = createPresence({ database, now, onError: onError('presence could not be written') })
  ending.defer(() => presence.stop())

  const metrics = createMetrics()
  let notifier: Notifier | null = null
  const fanout = createFanout(database, () => tail.position)
  const tail = await startTail({
    database,
    onError: onError('the timeline could not be read'),
    onEvent(event) {
      follow(event)
      fanout.publish(event)
      metrics.handedOut(event, now())
    },
  })
  ending.defer(() => tail.stop())
  const doorbell = startDoorbell({
    database,
    connectionString,
    onRing: tail.ring,
    onError: onLost('the doorbell is not heard'),
  })
  ending.defer(() => doorbell.stop())

  const journal = createJournal({
    database,
    now,
    onCommitted(events) {
      // What was answered here need not come round by the timeline first.
      for (const event of events) wakeWaiting(event)
      tail.ring()
      doorbell.ring()
      metrics.committed(events)
    },
  })
  const refusedKeys = createFailedAttempts({
    journal,
    type: 'key.refused',
    onError: onError('refused keys could not be put on the record'),
  })
  ending.defer(() => refusedKeys.stop())
  const authenticator = createAuthenticator({
    journal,
    secret,
    userHeader: config.trustedUserHeader,
    onWrongKey: (address) => refusedKeys.count(address),
    onError: onError('the last use of keys could not be written'),
  })
  ending.defer(() => authenticator.stop())
  const failedSignIns = createFailedAttempts({
    journal,
    type: 'sign_in.failed',
    onError: onError('failed sign-ins could not be put on the record'),
  })
  ending.defer(() => failedSignIns.stop())
  const desk: Desk = {
    journal,
    requests: createRequests(database),
    defaultExpirationMs: config.defaultExpirationMs,
    limits: config.limits,
    secret,
  }
  const poller: Poller = {
    journal,
    heldPolls,
    presence,
    reader: createPolledReader(database),
    recovery,
    onDatabaseTrouble: onError('a poll could not ask the database'),
  }

  function wakeWaiting({ type, data }: Pick<NewEvent, 'type' | 'data'>): void {
    if (type === 'elicitation.resolved') heldPolls.wake(String(data?.requestId))
  }

  function follow(event: TimelineEvent): void {
    notifier?.follow(event)
    wakeWaiting(event)
    if (event.type === 'key.revoked') {
      const keyId = String(event.data.keyId)
      authenticator.forget(keyId)
      fanout.endSubscriptionsOf(keyId)
    }
  }

  const http = createHttp({ log, trustProxy: config.trustProxy })
  ending.defer(() => http.close())
  if (config.trustedUserHeader && Array.isArray(config.trustProxy))
    guardUserHeader(http.server, config.trustedUserHeader, config.trustProxy)
  hintKeepAlive(http, () => draining)
  const publicUrl = config.publicUrl ?? publicUrlOf(config.host, config.port)
  notifier = await startNotifier({
    journal,
    position: () => tail.position,
    publicUrl,
    webhook:
      config.notifyWebhookUrl === null
        ? null
        : { url: config.notifyWebhookUrl, secret: config.webhookSecret },
    vapidKeys:
      config.vapidPublicKey === null || config.vapidPrivateKey === null
        ? null
        : { publicKey: config.vapidPublicKey, privateKey: config.vapidPrivateKey },
    pushAddresses,
    log,
  })
  const { stop: stopNotifier } = notifier
  ending.defer(stopNotifier)
  await registerRest(http, {
    notifier,
    log,
    desk,
    poller,
    authenticator,
    failedSignIns,
    limits: config.limits,
    secret,
    publicUrl,
    pollHoldMs: config.pollHoldMs,
    gateAccess: config.gateAccess,
    allowedHosts: config.allowedHosts,
    isDraining: () => draining,
  })
  registerMcp(http, {
    log,
    desk,
    poller,
    authenticator,
    limits: config.limits,
    publicUrl,
    isDraining: () => draining,
  })
  const gate = createGate({
    journal,
    publicUrl,
    access: config.gateAccess,
    page: createPager({ url: config.alertWebhookUrl }),
    log,
  })
  const jobs = await openJobs({
    connectionString,
    jobs: jobsOf(config, journal, gate, notifier, log),
    log,
    onRun: metrics.jobRan,
  })
  ending.defer(() => jobs.stop())
  registerHealth(http, { database, jobs, isDraining: () => draining })
  metrics.register(http, {
    database,
    heldPolls,
    limits: config.limits,
    heldPollsMax: config.heldPollsMax,
    fanout,
    jobs,
    gate,
    now,
  })
  const graphql = await registerGraphql(http, {
    journal,
    fanout,
    position: () => tail.position,
    timelineVersion: createTimelineVersion(database, () => tail.position),
    desk,
    presence,
    authenticator,
    gate,
    launch: createLaunch({
      journal,
      gate,
      publicUrl,
      gateAccess: config.gateAccess,
      defaultExpirationMs: config.defaultExpirationMs,
    }),
    log,
    config: {
      publicUrl,
      trustProxy: config.trustProxy,
      development: config.environment === 'development',
    },
  })
  await registerDashboard(http, { folder: dashboardFolder })

  // Two processes share a port only where they share a database; on the embedded one the second is a mistake.
  const address: ListenOptions = {
    host: config.host,
    port: config.port,
    reusePort: config.databaseUrl !== null,
  }
  const url = await http.listen(address)
  // Not before: a probe would find nobody at home, and a key that a failed start made would never be shown.
  await jobs.begin()
  const firstKey = await ensureAdminKey(journal, config.adminKey)
  if (firstKey.warning) log.warn(firstKey.warning)
  await ensureLauncherKey(journal, config.dataDir).catch(
    onError('the data folder takes no launcher key: launching from this machine needs HOLDPOINT_API_KEY'),
  )
  await writeAddress(config.dataDir, url).catch(
    onError('the data folder takes no address: launching from this machine needs HOLDPOINT_URL'),
  )
  const link = firstKey.adminKeyId === null ? null : await createSignInLink(journal, firstKey.adminKeyId)

  let closed: Promise<void> | null = null
  return {
    url,
    publicUrl,
    newAdminKey: firstKey.secret,
    signInLink: link === null ? null : `${publicUrl}/sign-in#${link}`,
    heldPolls: () => heldPolls.size,
    close() {
      closed ??= (async () => {
        draining = true
        const begun = performance.now()
        await closePort(http)
        heldPolls.drain()
        fanout.endAll('going away')
        const jobsStopped = Promise.all([jobs.stop(), stopNotifier()])
        await graphql.close()
        await untilConnectionsEnd(http, Math.max(0, drainGraceMs - (performance.now() - begun)))
        await jobsStopped
        http.server.closeAllConnections()
        await ending.disposeAsync()
      })()
      return closed
    },
  }
}

function jobsOf(config: Config, journal: Journal, gate: Gate, notifier: Notifier, log: Logger): Job[] {
  const { environment, retentionDays, forgetContentMinutes } = config
  const jobs = [
    expiryJob(journal),
    sweepJob(journal, log),
    notifyJob(notifier),
    pruneNotificationsJob(notifier),
  ]
  // In development the address describes somebody's laptop.
  if (environment !== 'development') jobs.push(probeJob(gate))
  if (retentionDays !== null) jobs.push(retentionJob(journal, retentionDays))
  if (forgetContentMinutes !== null) jobs.push(forgetContentJob(journal, forgetContentMinutes))
  return jobs
}

async function databaseAddress(
  config: Config,
  { log, postgres }: AppOptions,
  ending: AsyncDisposableStack,
): Promise<string> {
  if (config.databaseUrl !== null) return config.databaseUrl
  const embedded = await (postgres ?? startEmbeddedPostgres({ dataDir: config.dataDir, log }))
  ending.defer(() => embedded.stop())
  return embedded.connectionString
}
