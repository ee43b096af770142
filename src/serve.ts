import { createLog } from './base/log.ts'
import { readConfig } from './config.ts'
import { startEmbeddedPostgres } from './database/embedded.ts'

const result = readConfig(process.env, process.cwd())
if (!result.ok) {
  process.stderr.write(
    `Holdpoint cannot start:\n${result.problems.map((problem) => `  - ${problem}\n`).join('')}`,
  )
  process.exit(78)
}
const { config, warnings } = result
const log = createLog(config.logLevel)
for (const warning of warnings) log.warn(warning)

// Agents wait on this process: a failure that nobody waited for is a fault to be found in the log, and no reason to end them.
process.on('unhandledRejection', (error) =>
  log.error({ err: error }, 'something failed that nobody waited for'),
)

// The database starts while the rest of the house is loaded.
const postgres = config.databaseUrl === null ? startEmbeddedPostgres({ dataDir: config.dataDir, log }) : null
// Whoever waits for it is told, and not before.
postgres?.catch(() => {})
const { startApp } = await import('./app.ts')
const { announce } = await import('./announce.ts')

const app = await startApp(config, { log, postgres }).catch((error: unknown) => {
  log.error({ err: error }, 'Holdpoint cannot start')
  process.stderr.write(`Holdpoint cannot start: ${reasonOf(error)}\n`)
  process.exit(1)
})

/** A drain takes at most this long; what hangs beyond it is left behind. */
const drainMs = 10_000

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    log.info({ signal }, 'going away')
    setTimeout(() => process.exit(1), drainMs).unref()
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the drain failed')
        process.exit(1)
      },
    )
  })

await announce(app, config)

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, syscall } = error as NodeJS.ErrnoException
  if (syscall !== 'listen') return error.message
  if (code === 'EADDRINUSE')
    return `port ${config.port} of ${config.host} is taken. Set PORT to another one, or stop what listens there.`
  return `it cannot listen at port ${config.port} of ${config.host} (${error.message}). Set HOST and PORT to what this machine has and you may use.`
}
